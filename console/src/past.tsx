import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Change } from './change.ts'
import { moment, setQuery } from './route.ts'
import { timeOfDay } from './text.ts'
import { readTimeline } from './timeline.ts'

/** Minimum time between two displayed moments while the slider moves. */
const pauseMs = 150

interface BannerProps {
  /** True if the page shows a past moment. */
  readonly isPast: boolean
}

/** The displayed moment, and a slider over the retained revisions. */
export function PastBanner({ isPast }: BannerProps) {
  const at = moment.value
  const span = useSignal<{ readonly oldest: number; readonly newest: number } | undefined>(undefined)
  const change = useSignal<Change | undefined>(undefined)
  const timer = useRef<number>(undefined)
  useEffect(() => {
    let isOver = false
    const revision = /^\d+$/.test(at) ? Number(at) : undefined
    const query = { limit: '1', ...(revision === undefined ? {} : { before: String(revision + 1) }) }
    readTimeline(query).then(
      ({ revision: newest, oldest, items }) => {
        if (isOver) return
        span.value = { oldest: Number(oldest) + 1, newest: Number(newest) }
        change.value = items[0]
      },
      // The slider needs the right to read the timeline; the moment is shown without it.
      () => {},
    )
    return () => {
      isOver = true
    }
  }, [at])
  const goTo = (revision: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setQuery({ at: String(revision) }), pauseMs)
  }
  const bounds = span.value
  const [present, last] = [Number(at), change.value]
  const hasSlider = bounds !== undefined && Number.isSafeInteger(present)
  return (
    <section class="past" aria-label="The moment that is shown">
      <p>
        <strong>{Number.isSafeInteger(present) ? `Revision ${at}` : at}</strong>
        {last?.time !== undefined && <span class="dim"> {timeOfDay(last.time)}</span>}
        {last !== undefined && (
          <span class="dim">
            {' '}
            {last.kind} {last.name} {last.event}
          </span>
        )}
        {!isPast && <span class="warn"> This page shows the present: what it shows is not kept.</span>}
      </p>
      {hasSlider && (
        <p class="scrub">
          <button type="button" aria-label="One revision back" disabled={present <= bounds.oldest} onClick={() => goTo(present - 1)}>
            ‹
          </button>
          <input
            type="range"
            aria-label="Revision"
            min={bounds.oldest}
            max={bounds.newest}
            value={present}
            onInput={(event) => goTo(Number(event.currentTarget.value))}
          />
          <button type="button" aria-label="One revision on" disabled={present >= bounds.newest} onClick={() => goTo(present + 1)}>
            ›
          </button>
        </p>
      )}
      <button type="button" onClick={() => setQuery({ at: '' })}>
        Back to the present
      </button>
    </section>
  )
}
