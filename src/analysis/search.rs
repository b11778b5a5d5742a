//! What a search goes over: the texts of blocks, what of them it is narrowed to, and which records need not be read.

pub mod literal_prefilter;
pub mod scope;
pub mod texts;
