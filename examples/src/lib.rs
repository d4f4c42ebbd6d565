//! Small programs, one idea each: see the files beside this package.
