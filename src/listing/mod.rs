//! Lists of rows with columns: the definition of columns, the layout of columns on a line, and
//! sorting. Views show lists on the screen; commands write the same lists as text, JSON or CSV.

pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod files;
pub(crate) mod found;
pub(crate) mod groups;
pub(crate) mod sessions;
pub(crate) mod sort;
pub(crate) mod table;
pub(crate) mod tools;
pub(crate) mod usage;
pub(crate) mod waste;
