//! What can happen.

use std::time::Duration;

use super::Station;
use crate::{Trouble, stress::Rng};

/// Something that happens to a server or to the way to it, and is over after a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// `kill -9`; then it comes back with its data.
    Killed,
    /// `kill -9`; then it comes back without its data.
    KilledAndEmptied,
    /// `kill -9`, and it is there again at once with its data.
    Restarted,
    /// SIGSTOP, then SIGCONT.
    Stopped,
    /// `CLIENT PAUSE … ALL`.
    Paused,
    /// `CLIENT PAUSE … WRITE`.
    PausedForWrites,
    /// `CONFIG SET maxmemory`: every write is refused.
    OutOfMemory,
    /// `CONFIG SET maxmemory`: keys are evicted at random.
    Evicting,
    /// `CONFIG SET maxclients 1`, and everybody is disconnected.
    TooManyClients,
    /// `REPLICAOF` a server that is empty, then `REPLICAOF NO ONE`.
    Replica,
    /// `REPLICAOF` a server that does not answer, without serving what it has meanwhile.
    ReplicaWithoutMaster,
    /// `FAILOVER` to another server and back, each time with all data.
    FailedOver,
    /// The user may not run scripts.
    NoScripts,
    /// The user may read and not write: invalidations fail, and what they were to end is still answered to whoever asks.
    NoWrites,
    /// The user may do nothing.
    NoRights,
    /// The user has another password, and everybody is disconnected.
    AnotherPassword,
    /// `FLUSHALL`.
    Flushed,
    /// `SCRIPT FLUSH`.
    ScriptsFlushed,
    /// `DEBUG RELOAD`.
    Reloaded,
    /// [`Trouble::Delay`], shorter than the read budget.
    Delayed,
    /// [`Trouble::Delay`], longer than the read budget.
    DelayedForLong,
    /// [`Trouble::Throttle`].
    Throttled,
    /// [`Trouble::Hold`].
    Held,
    /// [`Trouble::Blackhole`].
    Blackholed,
    /// [`Trouble::Cut`].
    Cut,
    /// [`Trouble::Reset`].
    Reset,
    /// [`Trouble::HalfOpen`].
    HalfOpen,
    /// [`Trouble::Refuse`].
    Refused,
    /// It comes back with data of a while ago: as a replica that was behind and is promoted. Acknowledged invalidations are lost to
    /// everybody but the process that keeps them.
    OldData,
}

impl Fault {
    /// All after which everything that was acknowledged holds everywhere.
    pub const LOSSLESS: &'static [Self] = &[
        Self::Killed,
        Self::KilledAndEmptied,
        Self::Restarted,
        Self::Stopped,
        Self::Paused,
        Self::PausedForWrites,
        Self::OutOfMemory,
        Self::Evicting,
        Self::TooManyClients,
        Self::Replica,
        Self::ReplicaWithoutMaster,
        Self::FailedOver,
        Self::NoScripts,
        Self::NoWrites,
        Self::NoRights,
        Self::AnotherPassword,
        Self::Flushed,
        Self::ScriptsFlushed,
        Self::Reloaded,
        Self::Delayed,
        Self::DelayedForLong,
        Self::Throttled,
        Self::Held,
        Self::Blackholed,
        Self::Cut,
        Self::Reset,
        Self::HalfOpen,
        Self::Refused,
    ];

    /// Has it happen to the station for about so long. What is of the network happens to one process or to all. Afterwards nothing is wrong
    /// any more. `wait` returns early if the test is over.
    pub(super) fn strike(
        self,
        station: &mut Station,
        dice: &mut Rng,
        length: Duration,
        wait: &mut dyn FnMut(Duration),
    ) {
        let milliseconds = length.as_millis().to_string();
        match self {
            Self::Killed => {
                station.server().stop();
                wait(length);
                station.restart();
            }
            Self::KilledAndEmptied => {
                station.server().stop();
                wait(length);
                station.restart_empty();
            }
            Self::Restarted => station.restart(),
            Self::Stopped => {
                station.server().pause().expect("the server runs");
                wait(length);
                station.server().resume().expect("the server runs");
            }
            Self::Paused => {
                station.command(&["CLIENT", "PAUSE", &milliseconds, "ALL"]);
                wait(length);
            }
            Self::PausedForWrites => {
                station.command(&["CLIENT", "PAUSE", &milliseconds, "WRITE"]);
                wait(length);
            }
            Self::OutOfMemory => {
                station.command(&["CONFIG", "SET", "maxmemory", "1"]);
                wait(length);
                station.command(&["CONFIG", "SET", "maxmemory", "0"]);
            }
            Self::Evicting => {
                station.command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]);
                // Less than an empty server needs: each write evicts all it can.
                station.command(&["CONFIG", "SET", "maxmemory", "900000"]);
                wait(length);
                station.command(&["CONFIG", "SET", "maxmemory", "0"]);
                station.command(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
            }
            Self::TooManyClients => {
                station.without_others(|| wait(length));
            }
            Self::Replica => {
                station.follow();
                wait(length);
                station.command(&["REPLICAOF", "NO", "ONE"]);
            }
            Self::ReplicaWithoutMaster => {
                station.command(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
                station.command(&["REPLICAOF", "127.0.0.1", "1"]);
                wait(length);
                station.command(&["REPLICAOF", "NO", "ONE"]);
                station.command(&["CONFIG", "SET", "replica-serve-stale-data", "yes"]);
            }
            Self::FailedOver => station.fail_over(|| wait(length / 2)),
            Self::NoScripts => {
                station.command(&["ACL", "SETUSER", "default", "-@scripting"]);
                wait(length);
                station.command(&["ACL", "SETUSER", "default", "+@all"]);
            }
            Self::NoWrites => {
                station.command(&["ACL", "SETUSER", "default", "-@write"]);
                wait(length);
                station.command(&["ACL", "SETUSER", "default", "+@all"]);
            }
            Self::NoRights => {
                station.command(&["ACL", "SETUSER", "default", "-@all"]);
                wait(length);
                station.command(&["ACL", "SETUSER", "default", "+@all"]);
            }
            Self::AnotherPassword => {
                station.command(&["ACL", "SETUSER", "default", "resetpass", ">another"]);
                station.disconnect_clients();
                wait(length);
                station.command(&["ACL", "SETUSER", "default", "nopass"]);
            }
            Self::Flushed => station.command(&["FLUSHALL"]),
            Self::ScriptsFlushed => station.command(&["SCRIPT", "FLUSH"]),
            Self::Reloaded => station.command(&["DEBUG", "RELOAD"]),
            Self::OldData => {
                let data = station.copy_of_disk();
                wait(length);
                station.restart_with(&data);
            }
            Self::Delayed
            | Self::DelayedForLong
            | Self::Throttled
            | Self::Held
            | Self::Blackholed
            | Self::Cut
            | Self::Reset
            | Self::HalfOpen
            | Self::Refused => {
                let whom = dice.usize(..=station.proxies().len());
                let only = (whom < station.proxies().len()).then_some(whom);
                station.trouble(only, self.trouble(dice));
                wait(length);
                station.trouble(only, Trouble::None);
            }
        }
    }

    fn trouble(self, dice: &mut Rng) -> Trouble {
        let mut delay = |of: std::ops::Range<u64>| Trouble::Delay {
            there: Duration::from_millis(dice.u64(of.clone())),
            back: Duration::from_millis(dice.u64(of)),
        };
        match self {
            Self::Delayed => delay(0..30),
            Self::DelayedForLong => delay(60..150),
            Self::Throttled => Trouble::Throttle(20_000),
            Self::Held => Trouble::Hold,
            Self::Blackholed => Trouble::Blackhole,
            Self::Cut => Trouble::Cut(dice.usize(..2000)),
            Self::Reset => Trouble::Reset,
            Self::HalfOpen => Trouble::HalfOpen,
            Self::Refused => Trouble::Refuse,
            _ => Trouble::None,
        }
    }
}
