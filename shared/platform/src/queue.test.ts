import { describe, expect, test } from 'vitest'
import { Queue } from './queue.ts'

class Marked {
  readonly number: number
  constructor(number: number) {
    this.number = number
  }
}

function aQueue(count: number): Queue<Marked> {
  const queue = new Queue<Marked>()
  for (let number = 0; number < count; number++) queue.push(new Marked(number))
  return queue
}

describe('a queue', () => {
  test('returns its items in insertion order', () => {
    const queue = aQueue(3)
    expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()].map((item) => item?.number)).toEqual([0, 1, 2, undefined])
    queue.push(new Marked(7))
    expect([queue.length, queue.at(0)?.number]).toEqual([1, 7])
  })

  test('returns the remaining items by their index, after any number of taken items', () => {
    const queue = aQueue(5_000)
    for (let taken = 1; taken <= 4_990; taken++) {
      queue.shift()
      if (taken % 499 === 0) expect([queue.at(0)?.number, queue.length]).toEqual([taken, 5_000 - taken])
    }
    expect(queue.slice(3, 5).map(({ number }) => number)).toEqual([4_993, 4_994])
    expect(queue.slice(8).map(({ number }) => number)).toEqual([4_998, 4_999])
    expect([queue.firstWhere(({ number }) => number >= 4_995), queue.firstWhere(({ number }) => number > 9_999)]).toEqual([5, 10])
  })
})
