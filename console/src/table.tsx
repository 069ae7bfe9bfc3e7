import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** True to align numbers on the right. */
  readonly isNumber?: boolean
  /** True to hide the column on a phone. */
  readonly isMinor?: boolean
  /** Width in characters; by default the column shares the remaining width. */
  readonly width?: number
  /** True for short words: on a phone the column is as narrow as a number. */
  readonly isShort?: boolean
}

interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly classOf?: (row: Row) => string
  readonly empty: string
  /** CSS class of the region; `table` by default. */
  readonly look?: 'table' | 'yaml'
  /** Width of the widest row in characters; by default the width of the page. */
  readonly characters?: number
}

/** Row heights in pixels, as in the style sheet. On a phone a cell shows two lines. */
const rowHeights = { table: 34, yaml: 20, phone: 54 }
/** The maximum width of the phone style. */
const phoneWidth = '(max-width: 48rem)'
/** Number of extra rows above and below the visible ones, so that scrolling shows no gaps. */
const margin = 12

/** A table that renders only the visible rows. */
export function Table<Row>({ label, columns, rows, keyOf, classOf, empty, look = 'table', characters }: TableProps<Row>) {
  const isOnPhone = useMedia(phoneWidth) && look === 'table'
  const rowHeight = rowHeights[isOnPhone ? 'phone' : look]
  const box = useRef<HTMLDivElement>(null)
  const [first, setFirst] = useState(0)
  const [height, setHeight] = useState(600)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setHeight(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const count = Math.ceil(height / rowHeight) + 2 * margin
  const start = Math.max(0, Math.min(first - margin, rows.length - count))
  const shown = rows.slice(start, start + count)
  const scroll = () => setFirst(Math.floor((box.current?.scrollTop ?? 0) / rowHeight))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section class={look} ref={box} onScroll={scroll} tabIndex={0} aria-label={label}>
      <table aria-rowcount={rows.length + 1} style={characters === undefined ? {} : { '--characters': `${characters}ch` }}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber, isMinor, isShort, width }) => (
              <th
                key={title}
                scope="col"
                title={title}
                class={`${classesOf(isNumber, isMinor)}${isShort === true ? ' short' : ''}`}
                style={width === undefined ? {} : { '--width': `${width}ch` }}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={start * rowHeight} />
          {shown.map((row, index) => (
            <tr key={keyOf(row)} class={classOf?.(row) ?? ''} aria-rowindex={start + index + 2}>
              {columns.map(({ title, cell, isNumber, isMinor }) => (
                <td key={title} class={classesOf(isNumber, isMinor)}>
                  {isOnPhone ? <div>{cell(row)}</div> : cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <Gap height={(rows.length - start - count) * rowHeight} />
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">{empty}</p>}
    </section>
  )
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useLayoutEffect(() => {
    const media = matchMedia(query)
    const change = () => setMatches(media.matches)
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [query])
  return matches
}

/** Fills the height of the rows that are not rendered. */
function Gap({ height }: { readonly height: number }) {
  return height > 0 ? <tr class="gap" style={{ height: `${height}px` }} /> : null
}

function classesOf(isNumber = false, isMinor = false): string {
  return `${isNumber ? 'number' : ''}${isMinor ? ' minor' : ''}`
}
