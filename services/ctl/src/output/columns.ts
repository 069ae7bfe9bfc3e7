/** Rows of texts in columns, each as wide as its widest text and three blanks, without blanks at the end of a line. */
export function printColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [index, text] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, text.length)
  return rows
    .map(
      (row) =>
        `${row
          .map((text, index) => text.padEnd((widths[index] ?? 0) + 3))
          .join('')
          .trimEnd()}\n`,
    )
    .join('')
}
