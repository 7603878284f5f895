// Every constant of a heuristic, with what was measured to choose it.
//
// Changes of loss in percent stand for Adult under trees at k = 2, at k = 50, and a made-up town of 4,000 people at
// k = 5: effort normal, one value changed, the mean of two seeds (November 2026).  Two seeds of equal values lie 0.3,
// 0.5 and 0.9 % apart, so what is below that is "no difference beyond chance".  At k = 50 almost every other value
// gives +0.1 to +0.3 %: the two seeds of the present values were lucky there.  Recipes on cells gain nothing in the town,
// so it says nothing of their constants.  Other figures stand in docs/explanation/measured/targets.md.
// "Not measured" means that nobody compared other values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kech::constants {

// -- widths ---------------------------------------------------------------------------------------------------

// Codes of an axis for which the width of every range is in a table (half a megabyte at most).  Not measured.
constexpr std::size_t table_codes = 256;
// What a side beyond the limit costs, in widths of the whole axis.  Not measured.
constexpr double limit_price = 20;

// -- kd order -------------------------------------------------------------------------------------------------

// Points of a node of which every cut is looked at; more of them are put into buckets.  Not measured.
constexpr std::size_t kd_exact_points = 32;
constexpr std::size_t kd_buckets = 64;
// Least share of the rows on either side of a cut, so that the tree is not deep.  Not measured.
constexpr double kd_least_share = 0.1;
// Points of a node that one thread orders alone.  Changes no order.
constexpr std::size_t kd_task = 8192;

// -- Hilbert order --------------------------------------------------------------------------------------------

// Bits of the grid on each axis.  Not measured.
constexpr std::size_t hilbert_bits = 10;

// -- cut of an order ------------------------------------------------------------------------------------------

// So many k share one pass over the order.  Not measured.
constexpr std::int64_t cut_batch = 8;
// A run of k rows is cut in this many steps or more.  Not measured.
constexpr std::int64_t cut_steps = 128;
// In this many steps where the rows are of one point, from this k on: the work no longer grows with the rows of a
// point (docs/explanation/how.md).
constexpr std::int64_t cut_lent_steps = 8;
constexpr std::int64_t cut_small_k = 32;

// -- peeling of the whole lattice -----------------------------------------------------------------------------

// Boxes are narrower than their cells: peeling ends where this share of its cost exceeds the best start.  Not measured.
constexpr double peel_hope = 0.6;
// Look-ups of a point on an axis after which nodes are skipped: for each table, and for each point.  Not measured.
constexpr std::size_t peel_visits = 800'000'000;
constexpr std::size_t peel_visits_per_point = 800;

// -- local search ---------------------------------------------------------------------------------------------

// Classes that one thread works on: 200 change the loss by -0.6, +0.5, +0.7 % and take up to 1.24 times the CPU; 800
// change it by +0.9, -0.2, +1.0 %.  So many blocks make a step (not measured).
constexpr std::size_t search_block = 400;
constexpr std::size_t search_batch = 16;
// A block that has grown to more classes, since it had a few very large ones, pairs none: the next round parts it first.
// 47,000 classes of 300,000 rows in one block took 9 GB and 58 s.
constexpr std::size_t crowded_block = 10 * search_block;
// Work that a block counts for beside its look-ups, so that tables with nothing to search end soon.  Not measured.
constexpr std::size_t block_overhead = 100;
// Pairs of classes that choose the axis along which blocks are parted.  Six: no difference beyond chance.  Blocks are
// parted within this range of shares (not measured).
constexpr std::size_t block_samples = 24;
constexpr double block_cut_from = 0.35;
constexpr double block_cut_range = 0.3;
// Neighbours of a class in pairs before the first ruin, and later.  Two at first: +0.5, +0.1, +0.2 %; eight:
// +1.4, +0.3, +0.4 %.  Four later: +0.5, +0.3, +0.9 %; 16: +0.1, +0.2, -0.2 %.
constexpr std::size_t first_neighbours = 4;
constexpr std::size_t pair_neighbours = 8;
// Share of its own width by which a class counts as nearer.  None: +2.3, +1.0, +3.3 %; all of it: -0.1, +0.8, +0.9 %
// and 1.4 times the CPU at k = 50.
constexpr double nearest_relief = 0.5;
// Rounds after which one class more is freed.  At effort best that was no worse: 0.1894 against 0.1901 on Adult at
// k = 100, where seeds lie 1 % apart.  Other numbers of rounds were not measured.
constexpr std::size_t late_rounds = 8;
// Classes that are freed together with the first, at most.  Three: -0.1, +0.1, +0.5 %; eight: -0.2, +0.4, +0.3 %.
// Regions one class larger: 0.2315 against 0.2293 on a town under trees at k = 50.
constexpr std::size_t freed_classes = 5;
// Members that are freed together, so that heavy classes do not stall a search.  Not measured.
constexpr std::size_t freed_members = 4096;
// Spread of the random weights of axes when neighbours, levels and cuts are chosen.
// 0.1: -0.2, +0.1, +0.5 %; 0.8: -0.2, +0.3, +0.1 %.  No difference beyond chance.
constexpr double recipe_noise = 0.4;
// Every recipe gets this share of the tries; the rest goes by what it saved for its work.  0.1: 0.0,
// +0.3, +0.9 %; 0.001: no difference beyond chance.
constexpr double recipe_least_share = 0.03;
// Share of a recipe's record that is remembered after each round.  0 or 0.9: no difference beyond chance.
constexpr double record_memory = 0.5;
// Recipes stop beyond the present cost and so many times the heat.  One time: no difference beyond chance.
constexpr double heat_limit = 4;
// Members up to which insertion sort is used.  Changes no label.
constexpr std::size_t insertion_sort = 32;

// -- recipes --------------------------------------------------------------------------------------------------

// Nodes of the lattice of a region; more levels are dropped at random.  256 or 4096: no difference beyond chance.
constexpr std::size_t region_nodes = 1024;
// Buckets into which they are sorted.  256: no difference beyond chance.
constexpr std::size_t region_buckets = 2048;
// Peeling ends where what is paid and this share of the mean width of the rest exceed what is allowed.
// 0.7 and 0.6 take 1.1 and 1.2 times the CPU on Adult, without gain.
constexpr double peel_patience = 0.9;
constexpr double borrow_patience = 0.8;
// Share of the peelings that begin with a forced cell.  None: -0.2, -0.1, +0.4 %; all: -0.3, +0.2, +0.5 %.  The cell is
// the best of so many tries, with this share of levels one step lower, and of levels one step higher: 10 or 90 tries,
// shares of 0.05 or 0.4, no difference beyond chance.
constexpr double forced_cell_share = 0.5;
constexpr std::size_t forced_cell_trials = 30;
constexpr double other_level_share = 0.2;
// All partitions are compared of up to so many neighbours, rows and units: 2^10 subsets.  Eight units:
// +0.3, 0.0, 0.0 %; twelve change nothing.  At k = 2 and effort quick, triples parted so lose up to 3 % less.
constexpr std::size_t exact_classes = 3;
constexpr std::int64_t exact_rows = 9;
constexpr std::size_t exact_units = 10;
// Classes that are asked to lend.  10 or 80: no difference beyond chance.  Members they may lend beyond twice those
// that are freed (not measured).  Least share of k that a cell must have of its own.  0.6: 0.0, +0.3 %.
constexpr std::size_t donors = 40;
constexpr std::size_t borrowed_members = 50;
constexpr double own_share = 0.2;

// -- boxes that are counted ------------------------------------------------------------------------------------

// Points with some codes on one axis up to which all of them are looked at, over the square of the number of axes; with
// more, a tree is faster.  With 24 axes counts took 1.1 s where lists end at 256 points, and 0.16 s so; 6 axes: no change.
constexpr std::size_t listed_points = 8;

// -- suppression ----------------------------------------------------------------------------------------------

// Classes among which neighbours are looked for, pairs of them that choose the axis along which they are parted, and
// neighbours to which rows may go.  Not measured.
constexpr std::size_t suppression_block = 2000;
constexpr std::size_t suppression_samples = 64;
constexpr std::size_t suppression_neighbours = 8;
// Rows added to those that leave when gains are compared: a gain without any row outside is finite.
constexpr double suppression_rate_rows = 0.5;

// -- repair of goals ------------------------------------------------------------------------------------------

// So many classes are all looked at; of more, so many neighbours on either side in kd order.  Not measured.
constexpr std::size_t goal_few_classes = 256;
constexpr std::size_t goal_neighbours = 32;
// Rows a class may trade, neighbours it may trade with, members beyond which a class does not trade; and rounds of
// trades where mergers do not help.  Not measured.
constexpr std::size_t goal_trades = 4;
constexpr std::size_t goal_traders = 12;
constexpr std::size_t goal_trade_members = 48;
constexpr std::size_t goal_rounds = 200;
// Cuts tried on an axis, and cuts judged for a class.  Not measured.
constexpr std::int64_t goal_cuts_tried = 64;
constexpr std::size_t goal_cuts_judged = 48;
// Costs and violations closer than this are equal.  Not measured.
constexpr double goal_tie = 1e-12;

// -- classes in balls -----------------------------------------------------------------------------------------

// Classes near a row that it may move to, and rows that may be pushed on one after another.  12 and 3 narrowed none of 36
// tables of 200 rows further.
constexpr std::size_t ball_neighbours = 8;
constexpr std::size_t ball_chain = 2;
// Units into which the rows of a point are divided, at most, beside what is left of them.  Not measured.
constexpr std::int64_t ball_units = 64;

// -- enclosing balls ------------------------------------------------------------------------------------------

// Shares of the square of the radius: a point so little outside is inside; a larger support must be better by more.
// Steps without growth after which a ball is taken as it is.  Not measured.
constexpr double ball_tolerance = 1e-14;
constexpr double ball_rounding = 2e-15;
constexpr int ball_patience = 20;

// -- dual bound -----------------------------------------------------------------------------------------------

// Share of its width within which a cell counts as near its limit; steps without gain before the stride gets shorter,
// and by how much; by how much it gets longer for the next climb.  Not measured.
constexpr double dual_near = 0.12;
constexpr std::size_t dual_patience = 8;
constexpr double dual_shorter = 0.7;
constexpr double dual_longer = 1.3;

// -- bound of the widest side ---------------------------------------------------------------------------------

// Points that are looked at, work for one of them, halvings of an interval (to 1e-15).  The bound holds with any.
constexpr std::size_t side_points = 200;
constexpr std::size_t side_work = 200'000;
constexpr int side_halvings = 48;

// -- trees and threads ----------------------------------------------------------------------------------------

// Points of a leaf, points that a thread takes at a time.  Not measured.
constexpr std::size_t tree_leaf = 8;
constexpr std::size_t point_task = 512;

// -- table of nearest rows ------------------------------------------------------------------------------------

// Points that choose from one crowd; buckets of distances that are sorted.
constexpr std::size_t reach_group = 64;
constexpr std::size_t reach_buckets = 128;
// A group is as wide as this many times the distance to its last row at most; wider ones are halved.
constexpr double reach_spread = 2;
// Distances of floats differ from those of doubles by less than this share of the widest; by how much a guess that was too
// small grows; how much farther than one of the points the crowd reaches.
// Measured on 200,000 points on 3 lines and 50,000 on 5: groups of 64 and 128, crowds of 1.12 and 1.2 differ by a tenth.
constexpr double reach_doubt = 1e-5;
constexpr double reach_growth = 1.06;
constexpr double reach_start = 1.2;

// -- search for little variance -------------------------------------------------------------------------------

// Units of a table that is one block, and of the blocks of a larger one: neighbours are found among all classes of one.
// Not measured.
constexpr std::size_t variance_whole = 5000;
constexpr std::size_t variance_block = 2000;
// Units that the rows of one point are divided into, at most.  Not measured.
constexpr std::int64_t variance_units = 64;
// Nearest classes with which rows are exchanged.  Not measured.
constexpr std::size_t variance_neighbours = 12;
// Neighbours that are made anew with a class, at most, and how often their rows are exchanged then.  Not measured.
constexpr std::size_t variance_region = 5;
constexpr std::size_t variance_passes = 6;
// The first of so many rounds exchanges rows of all classes; in the others, regions are made anew.  Not measured.
constexpr std::uint64_t variance_every = 8;

}  // namespace kech::constants
