#pragma once
#include <cstdlib>
inline double knob(const char* n, double d){ const char* v=std::getenv(n); return v?std::atof(v):d; }
