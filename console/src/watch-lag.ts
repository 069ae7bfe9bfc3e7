import { type Kind, pathOf } from './paths.ts'
import { counted } from './text.ts'

/** An open watch in the format of the server's control. */
export interface OpenWatch {
  readonly user: string
  readonly agent?: string
  readonly path: string
  /** Id of its request in the log. */
  readonly request?: number
  /** All events up to this revision were sent. */
  readonly revision: number
  readonly unreadBytes: number
  readonly isHeld: boolean
}

/** The open watches at one time. */
export interface WatchList {
  /** The revision of the store. */
  readonly revision: number
  readonly items: readonly OpenWatch[]
}

/** The lag of a watch. */
export type Lag =
  | { readonly kind: 'none' }
  /** A fault holds its events back. */
  | { readonly kind: 'held'; readonly behind: number }
  /** Its client reads too slowly. */
  | { readonly kind: 'unread'; readonly bytes: number; readonly behind: number }
  /** It has received nothing since the previous list, although the store had already changed before that list. */
  | { readonly kind: 'behind'; readonly behind: number }

/** Finds the lag of a watch. Even a watch without events receives the revision once a second, so two lists are sufficient. */
export function lagOf(watch: OpenWatch, revision: number, before: WatchList | undefined): Lag {
  const behind = Math.max(0, revision - watch.revision)
  if (watch.isHeld) return { kind: 'held', behind }
  if (watch.unreadBytes > 0) return { kind: 'unread', bytes: watch.unreadBytes, behind }
  const last = before?.items.find(({ request }) => request !== undefined && request === watch.request)
  const stands = last !== undefined && last.revision === watch.revision && before !== undefined && watch.revision < before.revision
  return stands ? { kind: 'behind', behind } : { kind: 'none' }
}

/** The lag as text; '' for none. */
export function printLag(lag: Lag): string {
  switch (lag.kind) {
    case 'none':
      return ''
    case 'held':
      return `held, ${counted(lag.behind, 'revision')} behind`
    case 'unread':
      return `${Math.ceil(lag.bytes / 1024).toLocaleString('en')} KB unread, ${counted(lag.behind, 'revision')} behind`
    case 'behind':
      return `${counted(lag.behind, 'revision')} behind`
  }
}

/** True if a watch may include an object: it has the object's kind, and its namespace or all. Selectors are unknown. */
export function isOfObject({ path }: OpenWatch, kind: Kind, namespace: string, name: string): boolean {
  const all = { ...kind, isNamespaced: false }
  const places = [pathOf(all), pathOf(all, '', name), pathOf(kind, namespace), pathOf(kind, namespace, name)]
  return places.includes(path.replace(/\/watch(?=\/)/, ''))
}
