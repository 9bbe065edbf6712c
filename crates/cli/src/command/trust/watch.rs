//! `crosier trust --watch`: each change is shown, and trusted with one key.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crosier_policy::Request;
use crosier_policy::trust;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use super::{record, screen};
use crate::exit::{Exit, Failed, Result};
use crate::print;

/// How often the files are checked.
const INTERVAL: Duration = Duration::from_millis(300);

pub(super) fn watch(request: &Request, keep_older: bool) -> Result {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failed::new(Exit::Failed, "`crosier trust --watch` needs a terminal to ask on"));
    }
    print::data("Watching; Ctrl-C stops.")?;
    let mut answered = None;
    loop {
        match trust::review(request) {
            Ok(review) if review.is_trusted() => answered = None,
            Ok(review) if answered.as_ref() != Some(&review.digest()) => {
                print::data(&screen::all(&review))?;
                match key("Trust this? [y]es, [n]o, [q]uit ")? {
                    b'y' | b'Y' => record(request, &review, keep_older)?,
                    b'q' | b'Q' | 3 | 4 => return Ok(Exit::Done),
                    _ => print::data("Not trusted; waiting for the next change.")?,
                }
                answered = Some(review.digest());
            }
            Ok(_) => {}
            Err(why) if answered.as_ref() != Some(&why) => {
                print::data(&print::plain(&why))?;
                answered = Some(why);
            }
            Err(_) => {}
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Reads one key, without Enter. Keys that were typed before the question are discarded.
fn key(question: &str) -> std::result::Result<u8, Failed> {
    let failed =
        |error: io::Error| Failed::new(Exit::Failed, format!("the answer could not be read: {error}"));
    let before = tcgetattr(io::stdin()).map_err(|error| failed(error.into()))?;
    let mut raw = before.clone();
    raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(io::stdin(), OptionalActions::Flush, &raw).map_err(|error| failed(error.into()))?;
    let answer = ask(question);
    let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
    let answer = answer.map_err(failed)?;
    print::data("")?;
    Ok(answer)
}

fn ask(question: &str) -> io::Result<u8> {
    write!(io::stdout(), "{question}")?;
    io::stdout().flush()?;
    let mut one = [b'q'];
    // Not through the buffer of the standard library, which would keep a second key for the next question.
    while let Err(error) = rustix::io::read(io::stdin(), &mut one) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    Ok(one[0])
}
