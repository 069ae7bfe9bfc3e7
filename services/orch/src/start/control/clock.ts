import { badRequest } from '@orch/core/meta'
import { Members } from '@orch/gateway'
import type { Clock, VirtualClock } from '@orch/platform'
import { awaitOrBadRequest, failure, object, type Route, route } from './route.ts'

/** The timers in one answer. */
const pendingMax = 1_000

/** `/clock`: the time of the server. */
export function clockRoutes(clock: Clock): readonly Route[] {
  const state = () => {
    const now = new Date(clock.now()).toISOString()
    if (!isMoved(clock)) return { now, virtual: false, pending: [], timers: 0 }
    const timers = clock.pending()
    const pending = timers.slice(0, pendingMax).map(({ at, background }) => ({ at: at.toISOString(), background }))
    return { now, virtual: true, pending, timers: timers.length }
  }
  return [
    route('GET /clock', 'the time, and the timers that have been set', () => object(state())),
    route('POST /clock/advance', 'moves a virtual clock {"by":"40s"} or {"to":"2026-01-31T12:00:00Z"}', async ({ body }) => {
      const moved = movable(clock)
      const members = new Members(body, '', ['by', 'to'])
      const [by, to] = [members.text('by'), members.text('to')]
      if ((by === undefined) === (to === undefined)) throw badRequest('the body: must have one of by and to')
      await awaitOrBadRequest('the clock', () => (by === undefined ? moved.advanceTo(to ?? '') : moved.advance(by)))
      return object(state())
    }),
    route('POST /clock/next', 'moves a virtual clock to the next timer that is not a background one', async ({ body }) => {
      new Members(body, '', [])
      const moved = await awaitOrBadRequest('the clock', () => movable(clock).next())
      return object({ moved, ...state() })
    }),
  ]
}

function movable(clock: Clock): VirtualClock {
  if (isMoved(clock)) return clock
  throw failure(
    409,
    'Conflict',
    "the clock is the machine's and cannot be moved: start the server with --virtual-clock, or start({ clock: virtualClock() })",
  )
}

/** True for a clock that a test moves. */
export function isMoved(clock: Clock): clock is VirtualClock {
  return clock.isVirtual === true && 'advance' in clock
}
