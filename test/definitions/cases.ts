import { readFileSync } from 'node:fs'

/** The cases of a file in `cases/`. The first line names the source. */
export function readCases<T>(name: string): readonly T[] {
  const [, ...lines] = readFileSync(new URL(`cases/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as T)
}

/** An error that a case expects: its message contains `contains`. */
export interface ExpectedError {
  readonly type: string
  readonly field: string
  readonly contains?: string
}
