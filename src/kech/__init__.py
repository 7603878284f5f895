"""kech watches the rows of a table merge as eps grows, and cuts where every group has k rows."""
