//! A program that knows the framework by other names only: through a facade, and by the name it gives the dependency.

#[cfg(test)]
mod through_a_facade;
#[cfg(test)]
mod under_another_name;
