import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Change } from '../change.ts'
import { type Axis, type Lane, type LaneKind, lanesOf, revisionAt } from '../lanes.ts'
import { moment, route, setQuery } from '../route.ts'
import { shortUser, timeOfDay } from '../text.ts'

const lanesMax = 8
const laneHeight = 20

interface LanesProps {
  readonly changes: readonly Change[]
  /** Shows the state at a revision; undefined without a server. */
  readonly scrub?: ((revision: string) => void) | undefined
}

/** Lanes of the objects, clients or kinds with the most changes. A click shows the state at that moment. */
export function Lanes({ changes, scrub }: LanesProps) {
  const { query } = route.value
  const by: LaneKind = choice(query.get('lanes'), ['objects', 'clients', 'kinds'])
  const axis: Axis = choice(query.get('axis'), ['revision', 'time'])
  const theme = useTheme()
  if (changes.length < 2) return null
  const data = lanesOf(changes, { by, axis, max: lanesMax })
  const [from, to] = [data.from, data.to].map((end) => (axis === 'time' ? timeOfDay(end) : String(end)))
  const at = moment.value === '' || axis === 'time' ? undefined : (Number(moment.value) - data.from) / (data.to - data.from || 1)
  return (
    <section class="lanes" aria-label={`The ${by} that changed most, from ${axis} ${from} to ${to}`}>
      <p class="tools">
        <label>
          Lanes of{' '}
          <select value={by} onChange={(event) => setQuery({ lanes: event.currentTarget.value })}>
            {(['objects', 'clients', 'kinds'] as const).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          by{' '}
          <select value={axis} onChange={(event) => setQuery({ axis: event.currentTarget.value })}>
            <option value="revision">revision</option>
            <option value="time">time</option>
          </select>
        </label>
        <span class="dim">
          {from} to {to}
          {scrub !== undefined && '; a click shows the state of that moment'}
        </span>
      </p>
      {data.lanes.map((lane) => (
        <div key={lane.name}>
          <span class="lane" title={lane.name}>
            {shortUser(lane.name)}
          </span>
          <Strip
            lane={lane}
            theme={theme}
            at={at}
            choose={scrub === undefined ? undefined : (place) => scrub(revisionAt(changes, data, axis, place))}
          />
          <span class="dim">{lane.count}</span>
        </div>
      ))}
    </section>
  )
}

function choice<const T extends string>(text: string | null, all: readonly [T, ...T[]]): T {
  return all.find((one) => one === text) ?? all[0]
}

/** Increases when the browser changes between light and dark, because a canvas does not update its colours. */
function useTheme(): number {
  const count = useSignal(0)
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const change = () => {
      count.value += 1
    }
    scheme.addEventListener('change', change)
    return () => scheme.removeEventListener('change', change)
  }, [])
  return count.value
}

interface StripProps {
  readonly lane: Lane
  readonly theme: number
  /** Position of the displayed moment. */
  readonly at: number | undefined
  readonly choose: ((place: number) => void) | undefined
}

const colours: Readonly<Record<Change['event'], string>> = { created: '--good', modified: '--link', deleted: '--bad' }

function Strip({ lane, theme, at, choose }: StripProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const element = canvas.current
    if (element !== null) draw(element, lane, at)
  }, [lane, theme, at])
  const click = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect()
    if (box !== undefined) choose?.(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)))
  }
  return (
    // For the keyboard, the slider of the moment has the same function.
    <canvas
      ref={canvas}
      height={laneHeight}
      class={choose === undefined ? '' : 'scrubbed'}
      role="img"
      aria-label={`${lane.count} changes`}
      {...(choose === undefined ? {} : { onClick: click })}
    />
  )
}

/** Draws each position once for each type of event, regardless of the number of changes. */
function draw(canvas: HTMLCanvasElement, { marks }: Lane, at: number | undefined): void {
  const scale = devicePixelRatio
  const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(laneHeight * scale)]
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d')
  if (context === null) return
  const colourOf = (name: string) => {
    // A canvas does not resolve variables or colours with light and dark variants.
    canvas.style.color = `var(${name})`
    return getComputedStyle(canvas).color
  }
  const placed = new Map<Change['event'], Set<number>>()
  for (const { place, event } of marks) {
    const places = placed.get(event) ?? new Set()
    placed.set(event, places.add(Math.round(place * (width - 4 * scale)) + scale))
  }
  for (const [event, places] of placed) {
    context.fillStyle = colourOf(colours[event])
    for (const x of places) context.fillRect(x, 3 * scale, 2 * scale, height - 6 * scale)
  }
  if (at === undefined || at < 0 || at > 1) return
  context.fillStyle = colourOf('--warn')
  context.fillRect(Math.round(at * (width - 4 * scale)) + scale, 0, 2 * scale, height)
}
