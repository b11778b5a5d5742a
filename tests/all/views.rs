//! Journeys through the views, one room each.

mod files;
