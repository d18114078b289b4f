//! Tests of the protocol against a fake of the server whose documents are edited.

mod commands;
mod converting;
mod editing;
mod failing;
mod losing;
mod page;
mod save;
mod support;
