import { readFileSync } from 'node:fs'

/** The cases of a file of `cases/`. Its first line says where they come from. */
export function readCases<T>(name: string): readonly T[] {
  const [, ...lines] = readFileSync(new URL(`cases/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as T)
}
