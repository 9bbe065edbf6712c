//! The lines in which two texts differ.

/// How many lines around a change are shown.
const AROUND: usize = 2;
/// The most lines of either side that are aligned; longer changes are shown as all old lines, then all new ones.
const MOST: usize = 1500;
/// The most lines that are shown.
const MOST_SHOWN: usize = 400;

/// The differing lines, each with `+`, `-` or a space in front of it.
pub(crate) fn lines(before: &str, after: &str) -> Vec<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - start;
    let end = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (middle_a, middle_b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    let mut shown: Vec<String> =
        a[start.saturating_sub(AROUND)..start].iter().map(|line| format!(" {line}")).collect();
    if middle_a.len() <= MOST && middle_b.len() <= MOST {
        paired(middle_a, middle_b, &mut shown);
    } else {
        shown.extend(middle_a.iter().map(|line| format!("-{line}")));
        shown.extend(middle_b.iter().map(|line| format!("+{line}")));
    }
    shown.extend(a[a.len() - end..].iter().take(AROUND).map(|line| format!(" {line}")));
    if shown.len() > MOST_SHOWN {
        let more = shown.len() - MOST_SHOWN;
        shown.truncate(MOST_SHOWN);
        shown.push(format!("… and {more} more lines"));
    }
    shown
}

/// Writes all lines of both texts, aligned by their longest common subsequence.
fn paired(a: &[&str], b: &[&str], shown: &mut Vec<String>) {
    let width = b.len() + 1;
    let mut table = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = match a[i] == b[j] {
                true => table[(i + 1) * width + j + 1] + 1,
                false => table[(i + 1) * width + j].max(table[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            shown.push(format!(" {}", a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j >= b.len() || (i < a.len() && table[(i + 1) * width + j] >= table[i * width + j + 1]) {
            shown.push(format!("-{}", a[i]));
            i += 1;
        } else {
            shown.push(format!("+{}", b[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn what_differs_is_shown_with_what_is_around() {
        assert_eq!(lines("a\nb\nc\nd\ne", "a\nb\nx\nd\ne"), [" a", " b", "-c", "+x", " d", " e"]);
        assert_eq!(lines("", "x"), ["+x"]);
        assert_eq!(lines("x\ny", "y\nx"), ["-x", " y", "+x"]);
        assert!(lines("same", "same").iter().all(|line| line.starts_with(' ')));
    }
}
