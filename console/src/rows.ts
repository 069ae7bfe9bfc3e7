import { compareTexts } from '@orch/core/json'
import { signal } from '@preact/signals'
import { ask, formOf } from './api.ts'
import type { ObjectMeta } from './objects.ts'
import { type Kind, pathOf } from './paths.ts'
import { follow } from './watches.ts'

/** A row of a server-side table. */
export interface Row {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Replaced when the object changes. */
  cells: readonly unknown[]
}

interface TableDocument {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly columnDefinitions: readonly ServerColumn[] | null
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: { readonly metadata: ObjectMeta } }[] | null
}

interface ServerColumn {
  readonly name: string
  readonly type: string
  readonly description: string
  /** Above 0 for columns of the wide form. */
  readonly priority: number
}

/** Number of objects read per request. */
const pageSize = 500
/** Maximum objects on a page; a namespace or a selector finds the rest. */
const rowsMax = 20_000
const showEveryMs = 250

/** The objects of a kind as rows, updated by a watch. */
export class Rows {
  readonly version = signal(0)
  readonly problem = signal('')
  columns: readonly ServerColumn[] = []
  isComplete = false
  hasMore = false
  readonly #path: string
  readonly #accept = `${formOf('Table')},application/json`
  readonly #rows = new Map<string, Row>()
  #sorted: readonly Row[] | undefined
  #end: (() => void) | undefined
  #timer: number | undefined
  #isClosed = false

  constructor(kind: Kind, namespace: string, fieldSelector: string) {
    const query = fieldSelector === '' ? '' : `?${new URLSearchParams({ fieldSelector })}`
    this.#path = `${pathOf(kind, namespace)}${query}`
  }

  /** Rows sorted by namespace and name. */
  get sorted(): readonly Row[] {
    this.#sorted ??= [...this.#rows.values()].sort(
      (one, other) => compareTexts(one.namespace, other.namespace) || compareTexts(one.name, other.name),
    )
    return this.#sorted
  }

  open(): void {
    this.#end = follow<TableDocument>({
      path: this.#path,
      accept: this.#accept,
      read: (isOver) => this.#read(isOver),
      onEvents: (events) => {
        for (const { type, object } of events) {
          if (type !== 'DELETED') this.#take(object)
          else for (const row of object.rows ?? []) this.#drop(row.object.metadata.uid ?? '')
        }
        this.#show()
      },
      onProblem: (message) => {
        this.problem.value = message
      },
    })
  }

  async #read(isOver: () => boolean): Promise<string> {
    let [next, revision] = ['', '']
    this.#rows.clear()
    this.#sorted = undefined
    do {
      const query = new URLSearchParams({ limit: String(pageSize), ...(next === '' ? {} : { continue: next }) })
      const page = await ask<TableDocument>(`${this.#path}${this.#path.includes('?') ? '&' : '?'}${query}`, {
        headers: { accept: this.#accept },
      })
      if (isOver()) break
      this.#take(page)
      ;({ continue: next = '', resourceVersion: revision = '' } = page.metadata)
      this.#show()
    } while (next !== '' && this.#rows.size < rowsMax)
    this.hasMore = next !== ''
    this.isComplete = true
    return revision
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#end?.()
  }

  #take({ columnDefinitions, rows }: TableDocument): void {
    if (columnDefinitions !== null && columnDefinitions !== undefined && columnDefinitions.length > 0) this.columns = columnDefinitions
    for (const { cells, object } of rows ?? []) {
      const { namespace = '', name, uid = '' } = object.metadata
      const known = this.#rows.get(uid)
      // A change keeps the position of its row: sorting ten thousand rows four times a second would be too slow.
      if (known !== undefined) known.cells = cells
      else if (this.#rows.size < rowsMax) {
        this.#rows.set(uid, { namespace, name, uid, cells })
        this.#sorted = undefined
      }
    }
  }

  #drop(uid: string): void {
    if (this.#rows.delete(uid)) this.#sorted = undefined
  }

  #show(): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.version.value += 1
    }, showEveryMs)
  }
}
