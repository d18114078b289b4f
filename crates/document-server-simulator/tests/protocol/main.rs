//! Tests of the protocol against a fake of the server whose documents are edited.

mod commands;
mod conversions;
mod data_loss;
mod editing;
mod editor_page;
mod fault_injection;
mod save;
mod support;
