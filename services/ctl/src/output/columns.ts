import { printAge, unknownAge } from '@orch/core/table'
import { systemClock } from '@orch/platform'

/** Separator of two columns. */
const gap = 3

/** Minimum number of characters in a cut column. */
const cutWidthMin = 8

/** The width of rows, and the number of leading columns that are never cut. */
export interface RowBounds {
  /** By default as wide as the texts. */
  readonly widthMax?: number | undefined
  readonly whole: number
}

/**
 * Rows of texts in columns, each as wide as its widest text and three blanks, without trailing blanks. If that exceeds the bound, the widest columns are
 * cut first, and a cut text ends with `…`.
 */
export function printColumns(rows: readonly (readonly string[])[], bounds: RowBounds = { whole: 0 }): string {
  const widths: number[] = []
  for (const row of rows) for (const [index, text] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, text.length)
  fit(widths, bounds)
  return rows
    .map(
      (row) =>
        `${row
          .map((text, index) => cell(text, widths[index] ?? 0))
          .join('')
          .trimEnd()}\n`,
    )
    .join('')
}

function cell(text: string, width: number): string {
  const shown = text.length <= width ? text : `${text.slice(0, width - 1)}…`
  return shown.padEnd(width + gap)
}

/** Removes characters from the widest column that may be cut until all fit, or all are at the minimum. */
function fit(widths: number[], { widthMax = Number.POSITIVE_INFINITY, whole }: RowBounds): void {
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - widthMax
  while (excess > 0) {
    const widest = widths.reduce((best, width, index) => (index >= whole && width > (widths[best] ?? 0) ? index : best), -1)
    const width = widths[widest] ?? 0
    if (width <= cutWidthMin) return
    widths[widest] = width - 1
    excess -= 1
  }
}

/** The age of an RFC 3339 time: `5m`. */
export function ageOf(time: string | undefined): string {
  const at = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(at) ? unknownAge : printAge(systemClock.now() - at)
}
