import { signal, useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { Access } from './pages/access.tsx'
import { Now } from './pages/now.tsx'
import { ObjectPage } from './pages/object.tsx'
import { Objects } from './pages/objects.tsx'
import { Requests } from './pages/requests.tsx'
import { Scheduling } from './pages/scheduling.tsx'
import { Timeline } from './pages/timeline.tsx'
import { TracePage } from './pages/trace.tsx'
import { Weather } from './pages/weather.tsx'
import { PastBanner } from './past.tsx'
import { keyOfKind } from './paths.ts'
import { Problem } from './problem.tsx'
import { goTo, linkTo, moment, route, setQuery } from './route.ts'
import { closeSession, isReachable, sessionState } from './session.ts'
import { dayAndTime, messageOf } from './text.ts'
import {
  findKinds,
  followWorld,
  kinds,
  momentProblem,
  namespaces,
  oldestMoment,
  problem,
  readableMoment,
  readNamespaces,
  readWorld,
} from './world.ts'

interface Page {
  readonly title: string
  readonly view: ComponentType
  /** True if the menu contains the page. */
  readonly isListed: boolean
  /** True if the page can show a past moment; other pages show the present. */
  readonly hasPast: boolean
}

/** Pages by name in the URL. */
const pages: Readonly<Record<string, Page>> = {
  now: { title: 'Now', view: Now, isListed: true, hasPast: true },
  timeline: { title: 'Timeline', view: Timeline, isListed: true, hasPast: true },
  requests: { title: 'Requests', view: Requests, isListed: true, hasPast: false },
  scheduling: { title: 'Scheduling', view: Scheduling, isListed: true, hasPast: true },
  access: { title: 'Access', view: Access, isListed: true, hasPast: false },
  weather: { title: 'Weather', view: Weather, isListed: true, hasPast: false },
  trace: { title: 'Trace file', view: () => <TracePage />, isListed: true, hasPast: false },
  objects: { title: 'Objects', view: Objects, isListed: false, hasPast: true },
  object: { title: 'Object', view: ObjectPage, isListed: false, hasPast: true },
}

const isHelpOpen = signal(false)
const isPaletteOpen = signal(false)

/** The complete page: header, menu, and the page of the URL. */
export function Shell() {
  const state = sessionState.value
  const isOpen = state.kind === 'open'
  useEffect(() => {
    if (isOpen && kinds.value.size === 0) void readWorld()
  }, [isOpen])
  const at = moment.value
  useEffect(() => {
    if (isOpen && kinds.value.size > 0) void readNamespaces()
    return isOpen && at === '' ? followWorld() : undefined
  }, [isOpen, at])
  useKeys()
  const { page } = route.value
  const shown = Object.hasOwn(pages, page) ? pages[page] : undefined
  useEffect(() => {
    document.title = `${shown?.title ?? 'Not found'} · orch console`
  }, [shown])
  return (
    <>
      <button class="skip" type="button" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the page
      </button>
      <Header />
      {isOpen && at !== '' && <PastBanner isPast={shown?.hasPast === true} />}
      <main id="main" tabIndex={-1}>
        {state.kind === 'opening' && <p class="empty">Opening the session …</p>}
        {state.kind === 'closed' && (page === 'trace' ? <TracePage /> : <Closed reason={state.reason} />)}
        {isOpen && <Problem text={problem.value} />}
        {isOpen && !isReachable.value && (
          <p role="alert" class="problem">
            The server does not answer. The page shows the last state that it has, and goes on when the server answers again. After a
            restart the server has no session of this page: get a new link with <code>orch console</code>.
          </p>
        )}
        {isOpen && (shown === undefined ? <p class="empty">There is no page at this address.</p> : <AtMoment key={page} page={shown} />)}
      </main>
      {isHelpOpen.value && <Help />}
      {isOpen && isPaletteOpen.value && <Palette />}
    </>
  )
}

/** A page at the moment in the URL. If the moment is not retained, one message says so, instead of an error for each request. */
function AtMoment({ page: { view: View, hasPast } }: { readonly page: Page }) {
  const at = hasPast ? moment.value : ''
  if (at === '' || readableMoment.value === at) return <Guarded key={at} view={View} />
  if (momentProblem.value === '') return <p class="empty">Reading the moment …</p>
  return (
    <p role="alert" class="problem">
      {momentProblem.value}{' '}
      {oldestMoment.value !== '' && (
        <button type="button" onClick={() => setQuery({ at: oldestMoment.value })}>
          Show revision {oldestMoment.value}, the oldest that is kept
        </button>
      )}
    </p>
  )
}

/** Shows an error in place of a page that failed; the rest of the console keeps working. */
function Guarded({ view: View }: Pick<Page, 'view'>) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <View />
  return (
    <p role="alert" class="problem">
      This page has failed: {messageOf(error)}{' '}
      <button type="button" onClick={reset}>
        Try again
      </button>
    </p>
  )
}

function Header() {
  const state = sessionState.value
  const { page, query } = route.value
  if (state.kind !== 'open') {
    return (
      <header>
        <span class="name">orch</span>
      </header>
    )
  }
  const ns = query.get('ns') ?? ''
  return (
    <header>
      <a class="name" href={linkTo('now')}>
        orch
      </a>
      <nav aria-label="Pages">
        {Object.entries(pages).map(
          ([name, { title, isListed }]) =>
            isListed && (
              <a key={name} href={linkTo(name, { ns })} aria-current={name === page ? 'page' : undefined}>
                {title}
              </a>
            ),
        )}
      </nav>
      <div class="where">
        <Namespace value={ns} />
        <input
          id="filter"
          type="search"
          placeholder="Filter  /"
          aria-label="Filter this page"
          value={query.get('filter') ?? ''}
          onInput={(event) => setQuery({ filter: event.currentTarget.value })}
        />
        <button type="button" onClick={() => (isPaletteOpen.value = true)} aria-label="Go to a kind">
          Kind <kbd>:</kbd>
        </button>
        <button type="button" onClick={() => (isHelpOpen.value = true)} aria-label="Help and session">
          <kbd>?</kbd>
        </button>
      </div>
    </header>
  )
}

function Namespace({ value }: { readonly value: string }) {
  const known = namespaces.value
  const change = (name: string) => goTo(route.value.page, { ...Object.fromEntries(route.value.query), ns: name })
  if (known === undefined) {
    return (
      <input
        class="namespace"
        aria-label="Namespace"
        placeholder="Namespace"
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
      />
    )
  }
  return (
    <select class="namespace" aria-label="Namespace" value={value} onChange={(event) => change(event.currentTarget.value)}>
      <option value="">all namespaces</option>
      {(value === '' || known.includes(value) ? known : [value, ...known]).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

function Closed({ reason }: { readonly reason: string }) {
  return (
    <section class="closed" role="alert">
      <h1>No session</h1>
      <p>The console shows nothing, as {reason}.</p>
      <p>
        Get a new link: <code>orch console</code> prints one, which opens once, within a minute. In a test{' '}
        <code>await server.console()</code> gives it.
      </p>
      <p>
        A <a href={linkTo('trace')}>trace file</a> of a failed test opens without a session.
      </p>
    </section>
  )
}

const keys: readonly (readonly [key: string, effect: string])[] = [
  [':', 'go to the objects of a kind'],
  ['/', 'filter the page'],
  ['?', 'this help'],
  ['g then a letter', 'go to the page that begins with the letter'],
  ['Esc', 'close what is open'],
]

function Help() {
  const state = sessionState.value
  const close = () => {
    isHelpOpen.value = false
  }
  return (
    <Dialog label="Help" close={close}>
      <h2>Keys</h2>
      <dl class="keys">
        {keys.map(([key, effect]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      {state.kind === 'open' && (
        <>
          <h2>Session</h2>
          <p>
            You are <strong>{state.session.user.name}</strong> until {dayAndTime(state.session.expires)}. The server is like release{' '}
            {state.session.server.release}.
          </p>
        </>
      )}
      <form method="dialog" class="tools">
        <button type="submit">Close</button>
        {state.kind === 'open' && (
          <button type="button" onClick={() => void closeSession().then(close)}>
            Log out in all tabs
          </button>
        )}
      </form>
    </Dialog>
  )
}

const paletteMax = 12

/** Opens the objects of a kind by name or short name. */
function Palette() {
  const text = useSignal('')
  const close = () => {
    isPaletteOpen.value = false
  }
  const found = findKinds(text.value.trim()).slice(0, paletteMax)
  const go = (event: Event) => {
    event.preventDefault()
    const [first] = found
    if (first === undefined) return
    close()
    goTo('objects', { kind: keyOfKind(first), ns: route.value.query.get('ns') ?? '' })
  }
  return (
    <Dialog label="Go to a kind" close={close}>
      <form class="palette" onSubmit={go}>
        <input
          autoFocus
          type="search"
          aria-label="Kind"
          placeholder="Kind, such as deploy"
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <ul>
          {found.map((kind) => (
            <li key={keyOfKind(kind)}>
              <a href={linkTo('objects', { kind: keyOfKind(kind), ns: route.value.query.get('ns') ?? '' })} onClick={close}>
                {kind.kind} <span class="dim">{keyOfKind(kind)}</span>
              </a>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  )
}

/** Handles `:`, `/`, `?`, and `g` followed by a letter, except while the user types in a field. */
function useKeys(): void {
  useEffect(() => {
    let isGoing = false
    const take = (event: KeyboardEvent) => {
      const { target, key } = event
      const isTyping = target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null) return
      const action = isGoing ? () => goToPage(key) : actions[key]
      isGoing = !isGoing && key === 'g'
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', take)
    return () => removeEventListener('keydown', take)
  }, [])
}

const actions: Readonly<Record<string, () => void>> = {
  ':': () => {
    isPaletteOpen.value = true
  },
  '?': () => {
    isHelpOpen.value = true
  },
  '/': () => document.getElementById('filter')?.focus(),
}

function goToPage(letter: string): void {
  const name = Object.keys(pages).find((page) => pages[page]?.isListed === true && page.startsWith(letter))
  if (name !== undefined) goTo(name, { ns: route.value.query.get('ns') ?? '' })
}
