//! Lists of rows with columns: what a column is, which columns a line has room for, and by what rows are sorted. The views
//! show such lists on the screen, commands write the same ones as text, JSON or CSV.

pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod files;
pub(crate) mod found;
pub(crate) mod sessions;
pub(crate) mod sort;
pub(crate) mod table;
pub(crate) mod tools;
pub(crate) mod usage;
