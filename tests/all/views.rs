//! Journeys through the views.

mod timeline;
