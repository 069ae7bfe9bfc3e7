import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { IdleTimer } from './idle-timer.ts'

class Connection {
  readonly idle = new IdleTimer(90_000, () => this.close())
  isClosed = false

  close(): void {
    this.isClosed = true
  }
}

describe('an idle timer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('calls back when nothing has begun for the given time', () => {
    const connection = new Connection()
    vi.advanceTimersByTime(89_999)
    expect(connection.isClosed).toBe(false)
    vi.advanceTimersByTime(1)
    expect(connection.isClosed).toBe(true)
  })

  test('counts from the last end, and never calls back earlier', () => {
    const connection = new Connection()
    connection.idle.begin()
    connection.idle.begin()
    vi.advanceTimersByTime(500_000)
    connection.idle.end()
    vi.advanceTimersByTime(500_000)
    expect([connection.idle.users, connection.isClosed]).toEqual([1, false])
    connection.idle.end()
    vi.advanceTimersByTime(89_999)
    expect(connection.isClosed).toBe(false)
    vi.advanceTimersByTime(1)
    expect(connection.isClosed).toBe(true)
  })
})
