//! Search: the texts of blocks, scopes that narrow a search, and a prefilter for records.

pub mod literal_prefilter;
pub mod scope;
pub mod texts;
