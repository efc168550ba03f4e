//! Writing answers: text of others made harmless, columns, and a reader that may go away at any time.

use super::failure::Failure;
use serde_json::Value;
use std::{
    borrow::Cow,
    fmt,
    io::{self, BufWriter, Stdout, Write},
};

/// Where answers go.
pub(super) struct Output<W: Write = Stdout> {
    writer: BufWriter<W>,
}

impl Output {
    pub(super) fn stdout() -> Self {
        Self { writer: BufWriter::new(io::stdout()) }
    }
}

impl<W: Write> Output<W> {
    /// Writes a part of a line.
    pub(super) fn text(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        write!(self.writer, "{text}").map_err(Failure::output)
    }

    /// Writes one line.
    pub(super) fn line(&mut self, line: impl fmt::Display) -> Result<(), Failure> {
        writeln!(self.writer, "{line}").map_err(Failure::output)
    }

    /// Writes a value of JSON on a line of its own.
    pub(super) fn json(&mut self, value: &Value) -> Result<(), Failure> {
        self.json_part(value)?;
        self.line("")
    }

    /// Writes a value of JSON as a part of a line, as harmless as [`inert`] text: what it escapes can only stand in a text.
    pub(super) fn json_part(&mut self, value: &Value) -> Result<(), Failure> {
        self.text(escaped_json(&value.to_string()))
    }

    /// Hands everything to the reader, or tells that there is none any more.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(Failure::output)
    }
}

/// Text that a producer or a server wrote, with everything escaped that could steer a terminal, add a line or turn the
/// reading order: such text can say anything but do nothing.
pub(super) fn inert(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().fold(String::with_capacity(text.len() + 16), |mut escaped, c| {
        if steers(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
        escaped
    });
    Cow::Owned(escaped)
}

/// JSON without what [`inert`] escapes, by escapes of JSON.
fn escaped_json(json: &str) -> Cow<'_, str> {
    if !json.contains(steers) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if steers(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Columns of text, each as wide as its widest cell so far.
pub(super) struct Columns<const N: usize> {
    headings: [&'static str; N],
    widths: [usize; N],
}

impl<const N: usize> Columns<N> {
    pub(super) fn new(headings: [&'static str; N]) -> Self {
        Self { headings, widths: headings.map(width) }
    }

    /// Makes room for `row`.
    pub(super) fn fit(&mut self, row: &[String; N]) {
        for (column, cell) in self.widths.iter_mut().zip(row) {
            *column = (*column).max(width(cell));
        }
    }

    /// The line of the headings.
    pub(super) fn heading(&self) -> String {
        self.row(&self.headings.map(str::to_owned))
    }

    /// The line of `row`.
    pub(super) fn row(&self, row: &[String; N]) -> String {
        let mut line = String::new();
        for (column, cell) in self.widths.iter().zip(row) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', column.saturating_sub(width(cell)) + 2));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_cannot_steer_a_terminal() {
        assert_eq!(inert("red \u{1b}[31m\r\n\u{9b}2J"), r"red \u{1b}[31m\r\n\u{9b}2J");
        assert_eq!(inert("abc\u{202e}cba\u{200b}"), r"abc\u{202e}cba\u{200b}");
        assert!(matches!(inert("Grüße, 世界 🦀"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_cannot_steer_a_terminal_and_says_the_same() {
        let value = Value::from("red \u{1b}[31m\u{9b}2J \u{202e} \u{e0041} Grüße 🦀");
        let text = value.to_string();
        let escaped = escaped_json(&text);
        assert!(!escaped.contains(steers), "{escaped}");
        assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn columns_are_aligned_and_end_without_spaces() {
        let rows = [["1", "relay/default"], ["12", "x"]].map(|row| row.map(str::to_owned));
        let mut columns = Columns::new(["ID", "STAGE"]);
        rows.iter().for_each(|row| columns.fit(row));
        let lines: Vec<_> =
            std::iter::once(columns.heading()).chain(rows.iter().map(|row| columns.row(row))).collect();
        assert_eq!(lines, ["ID  STAGE", "1   relay/default", "12  x"]);
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut output = Output { writer: BufWriter::new(Closed) };
        output.line("into the buffer").unwrap();
        assert!(matches!(output.finish(), Err(Failure::ClosedPipe)));
    }
}
