import { type LogLine, logLinesMax } from '@orch/core/pod-life'

/** Lines written by the program of one run: the last ones, and the number of dropped ones. */
export interface WrittenLines {
  readonly lines: readonly LogLine[]
  readonly dropped: number
}

/** Maximum characters stored of one run, and of all runs. Older ones are dropped. */
const runCharactersMax = 1024 * 1024
const charactersMax = 64 * 1024 * 1024
const none: WrittenLines = { lines: [], dropped: 0 }

/** Lines that programs of containers have written, by the ids of runs, the oldest run first. */
export class WrittenLogs {
  readonly #runs = new Map<string, { readonly lines: LogLine[]; dropped: number; characters: number }>()
  #characters = 0

  of(run: string): WrittenLines {
    return this.#runs.get(run) ?? none
  }

  /** With `isPartial` the last line has no end. */
  add(run: string, text: string, timeMs: number, isPartial = false): void {
    const written = this.#runs.get(run) ?? { lines: [], dropped: 0, characters: 0 }
    this.#runs.set(run, written)
    const lines = text.replace(/\n$/, '').split('\n')
    for (const [index, line] of lines.entries()) {
      const kept = line.slice(0, runCharactersMax)
      written.lines.push({ timeMs, text: kept, isError: false, ...(isPartial && index === lines.length - 1 && { isPartial }) })
      written.characters += kept.length
      this.#characters += kept.length
    }
    let excess = 0
    while (written.lines.length - excess > logLinesMax || written.characters > runCharactersMax) {
      const length = written.lines[excess]?.text.length ?? 0
      written.characters -= length
      this.#characters -= length
      excess += 1
    }
    written.lines.splice(0, excess)
    written.dropped += excess
    for (const [oldest, { characters }] of this.#runs) {
      if (this.#characters <= charactersMax || oldest === run) break
      this.#runs.delete(oldest)
      this.#characters -= characters
    }
  }
}
