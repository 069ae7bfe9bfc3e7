import type { Http2Server, Http2Session } from 'node:http2'
import { type Guard, IdleTimer } from '@orch/platform'
import { limits } from '../limits.ts'

/** Open sessions, each with the timer that closes it when it has had no streams for a while. */
export function trackSessions(http2: Http2Server, guard: Guard): ReadonlyMap<Http2Session, IdleTimer> {
  const sessions = new Map<Http2Session, IdleTimer>()
  http2.on('session', (session) => {
    guard.watch(session, 'connection', () => void setImmediate(() => session.destroy()))
    const idle = new IdleTimer(limits.idleTimeoutMs, () => session.close())
    sessions.set(session, idle)
    // A session that fails is closed by Node.
    session
      .once('close', () => {
        idle.close()
        sessions.delete(session)
      })
      .on('error', () => {})
  })
  http2.on('stream', (stream) => {
    const idle = stream.session === undefined ? undefined : sessions.get(stream.session)
    if (idle === undefined) return
    idle.begin()
    stream.on('close', idle.end)
  })
  return sessions
}
