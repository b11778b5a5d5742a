//! Journeys through the views, one room each.

mod tools;
mod tree;
