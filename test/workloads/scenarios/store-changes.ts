import type { ApiObject } from '@orch/core/meta'
import type { RunningServer } from 'orch'

/** One change of the store. For a deletion, `object` is the last state. */
export interface StoreChange {
  readonly kind: 'added' | 'updated' | 'deleted'
  readonly object: ApiObject
  readonly before: ApiObject | undefined
}

/** The objects of a server and their changes in revision order, read without a watch, which could lag. */
export class StoreChanges {
  readonly #server: RunningServer
  readonly #objects = new Map<string, ApiObject>()
  #revision = 0

  constructor(server: RunningServer) {
    this.#server = server
  }

  /** The revision of the last read. */
  get revision(): number {
    return this.#revision
  }

  values(): Iterable<ApiObject> {
    return this.#objects.values()
  }

  /** The changes since the last call. */
  async read(): Promise<readonly StoreChange[]> {
    if (this.#server.snapshot().revision === this.#revision) return []
    // A placeholder word replaces the server's port, so the text is not JSON.
    const lines = (await this.#server.dump()).replaceAll(':<port>', ':0').trimEnd().split('\n')
    const changesFrom = lines.findIndex((line) => line.startsWith('changes after '))
    const isFirst = this.#revision === 0
    const revision = Number(lines[0]?.split(' ')[1])
    const since = this.#revision
    this.#revision = revision
    if (isFirst) {
      for (const line of lines.slice(1, changesFrom)) this.#objects.set(fieldOf(line, 0), JSON.parse(restOf(line)))
      return []
    }
    if (Number(fieldOf(lines[changesFrom] ?? '', 2)) > since) throw new Error('changes of the store were forgotten before they were read')
    return lines
      .slice(changesFrom + 1)
      .filter((line) => Number(fieldOf(line, 0)) > since)
      .flatMap((line) => this.#apply(fieldOf(line, 1), restOf(line)))
  }

  #apply(key: string, text: string): StoreChange[] {
    const before = this.#objects.get(key)
    if (text === 'deleted') {
      this.#objects.delete(key)
      return before === undefined ? [] : [{ kind: 'deleted', object: before, before }]
    }
    const object: ApiObject = JSON.parse(text)
    this.#objects.set(key, object)
    return [{ kind: before === undefined ? 'added' : 'updated', object, before }]
  }
}

function fieldOf(line: string, index: number): string {
  return line.split(' ', index + 1)[index] ?? ''
}

/** The text after the first two fields. */
function restOf(line: string): string {
  return line.slice(line.indexOf(' ', line.indexOf(' ') + 1) + 1)
}
