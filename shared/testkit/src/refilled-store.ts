import type { SharedStore, Store } from '@orch/core/contracts'

/** A shared store whose state a test replaces. */
export interface RefilledStore {
  readonly store: Store
  /** Replaces the state of the store: its users reload their memory until the returned function is called. */
  refill(): () => void
}

/** A store that acts as a shared one. A test can make its users reload their memory. */
export function createRefilledStore(inner: Store): RefilledStore {
  let replaced = () => {}
  let visited = Promise.resolve()
  const shared: SharedStore = {
    latest: async () => inner.status().revision,
    askPosition: () => true,
    onReplaced(listener) {
      replaced = listener
      return () => {}
    },
    onReachable: () => () => {},
    visitRevisions: async () => 0,
    members: async () => [''],
    mayLoseChanges: false,
  }
  const store: Store = new Proxy(inner, {
    get(target, name) {
      if (name === 'shared') return shared
      if (name === 'visit') return (show: Parameters<Store['visit']>[0]) => visited.then(() => target.visit(show))
      const member = target[name as keyof Store]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return {
    store,
    refill() {
      const { promise, resolve } = Promise.withResolvers<void>()
      visited = promise
      replaced()
      return resolve
    },
  }
}
