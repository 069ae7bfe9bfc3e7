import { expect, test } from 'vitest'
import { sleep } from './clock.ts'
import { createMetrics } from './metrics.ts'
import { virtualClock } from './virtual-clock.ts'
import { createWorkqueue } from './workqueue.ts'
import { workqueueMetricsOf } from './workqueue-metrics.ts'

const start = new Date('2030-01-01T00:00:00Z')

test('a virtual clock calls due timers in order, each at its own time', async () => {
  const clock = virtualClock({ start })
  const rung: [string, number][] = []
  const ring = (name: string) => () => void rung.push([name, clock.monotonic()])
  clock.after(2_000, ring('second'))
  clock.after(1_000, ring('first'))
  clock.after(1_000, ring('first again'))
  clock.after(60_000, ring('later'))
  clock.every(900, ring('every'))
  await clock.advance('2s')
  expect(rung).toEqual([
    ['every', 900],
    ['first', 1_000],
    ['first again', 1_000],
    ['every', 1_800],
    ['second', 2_000],
  ])
  expect(new Date(clock.now()).toISOString()).toBe('2030-01-01T00:00:02.000Z')
})

test('a timer set by another timer within an advance is called during the advance', async () => {
  const clock = virtualClock({ start })
  const times: number[] = []
  const loop = async () => {
    for (let round = 0; round < 5; round += 1) {
      await sleep(clock, 10_000)
      await new Promise((resolve) => setImmediate(resolve))
      times.push(clock.monotonic())
    }
  }
  void loop()
  await clock.advance('45s')
  expect(times).toEqual([10_000, 20_000, 30_000, 40_000])
})

test('time does not advance while work is in progress', async () => {
  const clock = virtualClock({ start })
  const seen: string[] = []
  clock.after(1_000, () => {
    clock.work.begin('request')
    let turns = 0
    const turn = () => {
      turns += 1
      if (turns < 100) return void setImmediate(turn)
      seen.push(`done at ${clock.monotonic()}`)
      clock.work.end('request')
    }
    turn()
  })
  clock.after(2_000, () => void seen.push(`next at ${clock.monotonic()}`))
  await clock.advance('5s')
  expect(seen).toEqual(['done at 1000', 'next at 2000'])
})

test('time advances if the work waits for the clock itself', async () => {
  const clock = virtualClock({ start })
  clock.work.begin('request')
  let isOver = false
  void sleep(clock, 3_000).then(() => {
    isOver = true
    clock.work.end('request')
  })
  await clock.advance('5s')
  expect(isOver).toBe(true)
})

test('the clock waits for observed state while it is busy', async () => {
  const clock = virtualClock({ start })
  let left = 50
  const unfollow = clock.work.follow('watch cache', () => left-- > 0)
  await clock.advance('1s')
  expect(left).toBeLessThan(0)
  unfollow()
  expect(clock.work.inProgress()).toEqual([])
})

test('work is at rest if it is quiet for some turns, however long each turn takes', async () => {
  const { work } = virtualClock({ start })
  let left = 3
  const unfollow = work.follow('watch cache', () => left-- > 0)
  expect(await work.isAtRest()).toBe(true)
  left = Number.POSITIVE_INFINITY
  expect(await work.isAtRest()).toBe(false)
  unfollow()
})

test('cancelled timers are neither called nor pending', async () => {
  const clock = virtualClock({ start })
  let rung = 0
  const timers = Array.from({ length: 1_000 }, (_, index) => clock.after((index * 7_919) % 1_000, () => void rung++))
  for (const [index, timer] of timers.entries()) if (index % 3 !== 0) timer.cancel()
  for (const timer of timers.slice(0, 3)) timer.cancel()
  expect(clock.pending()).toHaveLength(333)
  await clock.advance('2s')
  expect([rung, clock.pending().length]).toEqual([333, 0])
})

test('background timers due at one time are called together, even if one sets or cancels another', async () => {
  const clock = virtualClock({ start })
  const rung: string[] = []
  let left = 3
  const again = () => {
    rung.push('again')
    left -= 1
    if (left > 0) clock.after(0, again, { background: true })
  }
  clock.every(1_000, () => {
    rung.push('every')
    cancelled.cancel()
  })
  const cancelled = clock.after(1_000, () => void rung.push('cancelled'), { background: true })
  clock.after(1_000, again, { background: true })
  await clock.advance('1s')
  expect(rung).toEqual(['every', 'again', 'again', 'again'])
})

test('repeating timers are called once at their own time and once at the end of a period without other timers', async () => {
  const clock = virtualClock({ start })
  const rung: [string, number][] = []
  const ring = (name: string) => () => void rung.push([name, clock.monotonic() / 1_000])
  const everySecond = clock.every(1_000, ring('second'))
  clock.every(60_000, ring('minute'))
  const bookmark = () => {
    ring('bookmark')()
    clock.after(30_000, bookmark, { repeats: true })
  }
  clock.after(30_000, bookmark, { repeats: true })
  clock.after(3_600_000, ring('hour'), { background: true })
  await clock.advance(5_400_500)
  const round = ['second', 'bookmark', 'minute']
  expect(rung).toEqual([
    ...[1, 30, 60].map((time, index) => [round[index], time]),
    ...['second', 'bookmark', 'minute'].map((name) => [name, 3_600]),
    ['hour', 3_600],
    ['second', 3_601],
    ['bookmark', 3_630],
    ['minute', 3_660],
    ...['second', 'bookmark', 'minute'].map((name) => [name, 5_400.5]),
  ])
  expect(clock.pending().map(({ at }) => at.getTime() - start.getTime())).toEqual([5_401_000, 5_430_500, 5_460_000])
  everySecond.cancel()
  expect(clock.pending()).toHaveLength(2)
})

test('a timer that watches a series is called only after the timers of that series, and no longer stops the clock afterwards', async () => {
  const clock = virtualClock({ start })
  const rung: [string, number][] = []
  const ring = (name: string) => void rung.push([name, clock.monotonic() / 1_000])
  const report = () => {
    ring('report')
    clock.after(10_000, report, { repeats: true, series: 'node reports' })
  }
  const look = () => {
    ring('look')
    clock.after(50_000, look, { watches: 'node reports' })
  }
  clock.after(10_000, report, { repeats: true, series: 'node reports' })
  clock.every(20_000, () => ring('bookmark'))
  clock.after(50_000, look, { watches: 'node reports' })
  await clock.advance(120_000)
  expect(rung).toEqual([
    ...[['report', 10] as const, ['bookmark', 20] as const],
    ...[50, 100].flatMap((time) => [['report', time] as const, ['look', time] as const]),
    ...[['bookmark', 120] as const, ['report', 120] as const],
  ])
  expect(clock.pending().every(({ background }) => background)).toBe(true)
})

test('next() advances to the earliest foreground timer', async () => {
  const clock = virtualClock({ start })
  const rung: string[] = []
  clock.every(400, () => void rung.push('resync'))
  clock.after(1_000, () => void rung.push('retry'))
  await expect(clock.next()).resolves.toBe(true)
  expect([rung, clock.monotonic()]).toEqual([['resync', 'resync', 'retry'], 1_000])
  await expect(clock.next()).resolves.toBe(false)
  expect(clock.monotonic()).toBe(1_000)
})

test('an automatic clock runs until only background timers are left', async () => {
  const clock = virtualClock({ start, auto: true })
  const times: number[] = []
  clock.every(1_000, () => undefined)
  clock.after(86_400_000, () => times.push(Number.NaN), { background: true })
  await new Promise<void>((resolve) => {
    const again = () => {
      times.push(clock.monotonic())
      if (times.length < 3) clock.after(30_000, again)
      else resolve()
    }
    clock.after(30_000, again)
  })
  expect(await clock.work.settled({ withinMs: 10_000, stillMs: 10_000 })).toEqual([])
  expect([times, clock.monotonic()]).toEqual([[30_000, 60_000, 90_000], 90_000])
})

test('an automatic clock advances for the retries of a key, but not forever', async () => {
  const clock = virtualClock({ start, auto: true })
  const ending = new AbortController()
  const tries: string[] = []
  const queue = createWorkqueue({
    name: 'a',
    metrics: workqueueMetricsOf(createMetrics({ process: false }), clock),
    async work(key) {
      tries.push(key)
      if (key === 'never' || tries.filter((one) => one === key).length < 4) throw new Error('not yet')
    },
    onError: () => undefined,
    clock,
    random: () => 0.5,
    signal: ending.signal,
    workersMax: 1,
  })
  queue.add('later')
  expect(await clock.work.settled({ withinMs: 10_000, stillMs: 10_000 })).toEqual([])
  expect(tries).toHaveLength(4)
  queue.add('never')
  expect(await clock.work.settled({ withinMs: 10_000, stillMs: 10_000 })).toEqual([])
  expect(tries.length).toBeLessThan(20)
  expect(clock.pending().map(({ background }) => background)).toEqual([true])
  await queue.close()
  expect([clock.pending(), clock.work.inProgress()]).toEqual([[], []])
})

test('advances run one after the other, for any order of calls', async () => {
  const clock = virtualClock({ start })
  await Promise.all([clock.advance('1m'), clock.advance(1_500), clock.advanceTo('2030-01-01T00:02:00Z')])
  expect(new Date(clock.now()).toISOString()).toBe('2030-01-01T00:02:00.000Z')
})

test('a past time, a time after the year 9999 and an invalid time are refused', async () => {
  const clock = virtualClock({ start })
  await expect(clock.advance('soon')).rejects.toThrow('advance(): soon is not a duration such as 40s or 1h30m')
  await expect(clock.advance('-1s')).rejects.toThrow('advance(): -1s: time does not go back')
  await expect(clock.advanceTo('2029-12-31T23:59:59Z')).rejects.toThrow('advanceTo(): 2029-12-31T23:59:59.000Z has passed')
  await expect(clock.advanceTo('noon')).rejects.toThrow('advanceTo(): noon is not a valid date')
  await expect(clock.advanceTo('+010000-01-01T00:00:00Z')).rejects.toThrow('the clock ends with the year 9999')
  await expect(clock.advance(3e14)).rejects.toThrow('the clock ends with the year 9999')
  expect(() => virtualClock({ start: new Date('never') })).toThrow('virtualClock(): start is not a valid date')
  expect(() => virtualClock({ start: new Date('1969-12-31T23:59:59Z') })).toThrow('start must be a time from 1970 to 9999')
})

test('a callback that throws ends the advance with its error', async () => {
  const clock = virtualClock({ start })
  clock.after(1, () => {
    throw new Error('broken')
  })
  await expect(clock.advance('1s')).rejects.toThrow('broken')
  await expect(clock.advance('1s')).resolves.toBeUndefined()
})
