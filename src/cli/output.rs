//! Writing answers: text of others made harmless, columns, and a reader that may go away at any time.

use super::failure::Failure;
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
    /// Writes one line.
    pub(super) fn line(&mut self, line: impl fmt::Display) -> Result<(), Failure> {
        writeln!(self.writer, "{line}").map_err(Failure::output)
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
