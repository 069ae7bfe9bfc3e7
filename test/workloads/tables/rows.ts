import { readFileSync } from 'node:fs'

/** A row of a table in this folder: the input and the result of one function of kube-controller-manager 1.37.2. */
export interface Row {
  readonly id: string
  readonly kind: string
}

/** The rows of one kind. */
export function rowsOf<T extends Row>(file: string, kind: T['kind']): readonly T[] {
  return readFileSync(new URL(`./${file}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): T => JSON.parse(line))
    .filter((row) => row.kind === kind)
}

/** The results by row id. */
export function byId<T extends Row>(rows: readonly T[], resultOf: (row: T) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(rows.map((row) => [row.id, resultOf(row)]))
}
