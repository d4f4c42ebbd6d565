//! A program that knows the framework by other names only.
