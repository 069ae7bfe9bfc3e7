import { readFileSync } from 'node:fs'

/** A row of a table in this folder. */
export interface Row {
  /** The test of kube-controller-manager that contains the row. */
  readonly func: string
}

/** The rows of one test. */
export function rowsOf<T extends Row>(file: string, func: T['func']): readonly T[] {
  return readFileSync(new URL(`./${file}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): T => JSON.parse(line))
    .filter((row) => row.func === func)
}
