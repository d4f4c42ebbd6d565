//! Services as programs have them.
