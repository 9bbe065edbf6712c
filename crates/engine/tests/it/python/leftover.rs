//! What a hook leaves behind when it has answered: a thread, a handler of `atexit`, an open file.

use std::time::{Duration, Instant};

use super::lab::each_way;

/// An engine that waited for a leftover would take a second or more.
const AT_ONCE: Duration = Duration::from_millis(700);

#[test]
fn a_thread_or_a_hanging_atexit_does_not_delay_the_end() {
    each_way(|lab| {
        for code in [
            "def leaves(event):\n    threading.Thread(target=time.sleep, args=(60,)).start()\n    return deny('no')",
            "import atexit\ndef leaves(event):\n    atexit.register(time.sleep, 60)\n    return deny('no')",
            "import atexit\ndef leaves(event):\n    threading.Thread(target=time.sleep, args=(60,)).start()\n    \
             atexit.register(time.sleep, 60)\n    return deny('no')",
        ] {
            let desk = lab.desk(code);
            desk.fire("leaves").denied("no");
            let ending = Instant::now();
            desk.end();
            assert!(ending.elapsed() < AT_ONCE, "{:?}: {code}", ending.elapsed());
            assert!(super::vitals::survivors(lab.folder()).is_empty(), "{code}");
        }
    });
}

#[test]
fn a_file_that_is_left_open_is_written() {
    each_way(|lab| {
        for hang in [
            "",
            "import atexit; atexit.register(time.sleep, 60)",
            "threading.Thread(target=time.sleep, args=(60,)).start()",
        ] {
            let code = format!(
                "log = open('log', 'w')\n{hang}\ndef writes(event):\n    log.write('seen')\n    return deny('no')"
            );
            let desk = lab.desk(&code);
            desk.fire("writes").denied("no");
            desk.end();
            assert_eq!(std::fs::read_to_string(lab.path("log")).unwrap(), "seen", "{hang}");
        }
    });
}
