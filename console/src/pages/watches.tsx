import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from '../api.ts'
import { shortUser } from '../text.ts'

interface OpenWatch {
  readonly user: string
  readonly path: string
}

interface Watcher {
  readonly user: string
  readonly resources: readonly string[]
  readonly count: number
}

const readAgainMs = 3_000

/** The open watches by client. A server without control does not list them. */
export function Watches() {
  const watchers = useSignal<readonly Watcher[]>([])
  useEffect(() => {
    let isOver = false
    let timer: number | undefined
    const read = async () => {
      const found = document.hidden ? undefined : await readWatchers().catch(() => [])
      if (isOver) return
      if (found !== undefined) watchers.value = found
      timer = setTimeout(() => void read(), readAgainMs)
    }
    void read()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [])
  if (watchers.value.length === 0) return null
  return (
    <section aria-labelledby="watches">
      <h2 id="watches">Open watches</h2>
      <ul class="plain">
        {watchers.value.map(({ user, count, resources }) => (
          <li key={user}>
            <strong>{shortUser(user)}</strong> {count} <span class="dim">{resources.join(', ')}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

async function readWatchers(): Promise<Watcher[]> {
  const { items } = await ask<{ items: readonly OpenWatch[] }>('/orch/v1/watches')
  const byUser = Map.groupBy(items, ({ user }) => user)
  return [...byUser].map(([user, open]) => ({
    user,
    count: open.length,
    resources: [...new Set(open.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)))].sort(),
  }))
}
