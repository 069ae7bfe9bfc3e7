import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { TracePage } from './pages/trace.tsx'
import { route, setQuery } from './route.ts'
import { decodeBase64 } from './text.ts'

/** The page of a trace that is opened from a file, without a server. */
function Offline({ given }: { readonly given: Blob | undefined }) {
  useEffect(() => {
    const focusFilter = (event: KeyboardEvent) => {
      if (event.key !== '/' || (event.target instanceof HTMLElement && event.target.matches('input, select'))) return
      event.preventDefault()
      document.getElementById('filter')?.focus()
    }
    addEventListener('keydown', focusFilter)
    return () => removeEventListener('keydown', focusFilter)
  }, [])
  return (
    <>
      <header>
        <span class="name">orch</span>
        <div class="where">
          <input
            id="filter"
            type="search"
            placeholder="Filter  /"
            aria-label="Filter this page"
            value={route.value.query.get('filter') ?? ''}
            onInput={(event) => setQuery({ filter: event.currentTarget.value })}
          />
        </div>
      </header>
      <main id="main">
        <TracePage given={given} />
      </main>
    </>
  )
}

/** The trace that `orch trace show --html` has embedded in the page. */
function embedded(): Blob | undefined {
  const text = document.getElementById('trace')?.textContent?.trim() ?? ''
  return text === '' ? undefined : new Blob([decodeBase64(text)])
}

const app = document.getElementById('app')
if (app !== null) render(<Offline given={embedded()} />, app)
