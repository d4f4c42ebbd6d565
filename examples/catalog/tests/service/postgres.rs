//! A private PostgreSQL of the programs that Debian's package `postgresql` installs.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// The URL of a new, empty database.
pub(crate) fn new_database() -> String {
    static SERVER: OnceLock<Server> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);

    let server = SERVER.get_or_init(Server::start);
    let name = format!("shop{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let port = server.port.to_string();
    let created = server
        .programs
        .command("createdb")
        .args(["-h", "127.0.0.1", "-p", &port, "-U", "postgres", &name])
        .status()
        .expect("createdb starts");
    assert!(created.success(), "createdb failed");
    format!("postgres://postgres@127.0.0.1:{port}/{name}")
}

struct Server {
    programs: Programs,
    port: u16,
    /// Its open input keeps the server running. The end of the test process closes it: a static is never dropped.
    _shell: Child,
}

/// Runs the server until the standard input is closed, then removes what it left.
const UNTIL_CLOSED: &str = r#"
    "$1/postgres" -D "$2" -c listen_addresses=127.0.0.1 -c port="$3" -c unix_socket_directories= -c fsync=off >&2 &
    echo started
    cat >/dev/null
    kill -INT $! && wait $!
    rm -rf "$2"
"#;

impl Server {
    fn start() -> Self {
        let programs = Programs::find();
        // Made by the user who runs the server, so that it is theirs.
        let made = programs
            .command("mktemp")
            .args(["-d", "-t", "catalog-test-XXXXXX"])
            .output()
            .expect("mktemp starts");
        let directory = String::from_utf8(made.stdout)
            .expect("a path")
            .trim()
            .to_owned();
        let initialised = programs
            .command("initdb")
            .args([
                "-D",
                &directory,
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-sync",
            ])
            .stdout(Stdio::null())
            .status()
            .expect("initdb starts");
        assert!(initialised.success(), "initdb failed");

        let port = free_port();
        let log = fs::File::create(PathBuf::from(&directory).join("log")).expect("a log file");
        let mut shell = programs
            .command("sh")
            .args(["-c", UNTIL_CLOSED, "sh"])
            .arg(&programs.directory)
            .args([&directory, &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("sh starts");
        let mut started = String::new();
        BufReader::new(shell.stdout.take().expect("a pipe"))
            .read_line(&mut started)
            .expect("a line");
        let ready = programs
            .command("sh")
            .args(["-c", r#"for i in $(seq 600); do "$1/pg_isready" -q -h 127.0.0.1 -p "$2" && exit; sleep 0.1; done; exit 1"#])
            .arg("sh")
            .arg(&programs.directory)
            .arg(port.to_string())
            .status()
            .expect("sh starts");
        assert!(ready.success(), "PostgreSQL does not answer");
        Self {
            programs,
            port,
            _shell: shell,
        }
    }
}

/// Where the programs are and who has to run them: PostgreSQL refuses root.
struct Programs {
    directory: PathBuf,
    user: Option<(u32, u32)>,
}

impl Programs {
    fn find() -> Self {
        let directory = fs::read_dir("/usr/lib/postgresql")
            .ok()
            .into_iter()
            .flatten()
            .filter_map(|version| Some(version.ok()?.path().join("bin")))
            .find(|directory| directory.join("initdb").exists())
            .expect("these tests run PostgreSQL: install the package `postgresql`");
        let root = fs::metadata("/proc/self").expect("a process").uid() == 0;
        Self {
            directory,
            user: root.then(postgres_user),
        }
    }

    fn command(&self, program: &str) -> Command {
        let path = self.directory.join(program);
        let mut command = Command::new(if path.exists() { path } else { program.into() });
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command.current_dir("/");
        command
    }
}

/// User and group that the package makes.
fn postgres_user() -> (u32, u32) {
    let passwd = fs::read_to_string("/etc/passwd").expect("a list of users");
    let fields: Vec<&str> = passwd
        .lines()
        .find(|line| line.starts_with("postgres:"))
        .expect("a user `postgres`")
        .split(':')
        .collect();
    (
        fields[2].parse().expect("a user id"),
        fields[3].parse().expect("a group id"),
    )
}

/// Free now; whoever takes it in between makes the test fail, not pass.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|socket| socket.local_addr())
        .expect("a free port")
        .port()
}
