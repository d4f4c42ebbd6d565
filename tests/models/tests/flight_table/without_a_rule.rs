//! What the callers of the flight table owe to it: take one rule away, and there is a schedule in which it goes wrong.

use crate::{
    scenario::{Act, Scenario, Wrong},
    scenarios::{first_is_dropped, loaded_once, put, read, read_twice},
    world::{Rules, World},
};

#[test]
fn a_value_that_enters_outside_of_the_lock() {
    let rules = Rules {
        insert_under_lock: false,
        ..Rules::ALL
    };
    Scenario::new("inserted outside of the lock")
        .rules(rules)
        .fails(Wrong::Stale, &[read, World::write_and_invalidate], read);
}

#[test]
fn an_entry_that_is_taken_out_before_the_loads_are_ended() {
    let rules = Rules {
        remove_under_lock: false,
        ..Rules::ALL
    };
    Scenario::new("removed outside of the lock")
        .rules(rules)
        .fails(Wrong::Stale, &[read, World::write_and_invalidate], read);
}

#[test]
fn what_was_found_before_is_brought_to_the_front() {
    let rules = Rules {
        fill_under_lock: false,
        ..Rules::ALL
    };
    Scenario::new("brought to the front without the lock")
        .rules(rules)
        .front()
        .fails(
            Wrong::Stale,
            &[read_twice, World::write_and_invalidate],
            read,
        );
}

#[test]
fn entries_that_count_in_every_epoch() {
    let rules = Rules {
        compare_epochs: false,
        ..Rules::ALL
    };
    Scenario::new("epochs not compared").rules(rules).fails(
        Wrong::Stale,
        &[read, World::write_and_invalidate_all],
        read,
    );
}

#[test]
fn a_put_that_does_not_ask() {
    let rules = Rules {
        settle_puts: false,
        ..Rules::ALL
    };
    let scenario = Scenario::new("puts do not settle").rules(rules);
    let of_puts: [[Act; 2]; 2] = [[read, put], [put, put]];
    for acts in &of_puts {
        scenario.fails(Wrong::Stale, acts, read);
    }
}

#[test]
fn joining_without_comparing_tokens() {
    let rules = Rules {
        compare_tokens: false,
        ..Rules::ALL
    };
    Scenario::new("tokens not compared")
        .backend()
        .rules(rules)
        .fails(Wrong::Stale, &[read, read, World::write_elsewhere], read);
}

#[test]
fn not_looking_once_more_under_the_lock() {
    let rules = Rules {
        look_again: false,
        ..Rules::ALL
    };
    Scenario::new("no second look")
        .rules(rules)
        .fails(Wrong::Bodies, &[read, read], loaded_once);
}

#[test]
fn reading_the_backend_before_being_present() {
    let rules = Rules {
        attend_first: false,
        ..Rules::ALL
    };
    Scenario::new("present too late")
        .backend()
        .rules(rules)
        .fails(Wrong::Bodies, &[read, read], loaded_once);
}

#[test]
fn a_flight_that_is_over_before_the_value_is_stored() {
    let rules = Rules {
        answer_until_stored: false,
        ..Rules::ALL
    };
    Scenario::new("over before it is stored")
        .backend()
        .rules(rules)
        .fails(Wrong::Bodies, &[read, read], loaded_once);
}

#[test]
fn a_leader_that_is_gone_without_a_word() {
    let rules = Rules {
        drop_leads: false,
        ..Rules::ALL
    };
    Scenario::new("leads forgotten")
        .rules(rules)
        .fails(Wrong::Left, &[first_is_dropped], |_| ());
}
