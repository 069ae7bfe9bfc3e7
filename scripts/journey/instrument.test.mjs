import { expect, test } from 'vitest'
import { instrument } from './instrument.mjs'

test('a call is inserted at the beginning of every kind of function, and their behaviour is unchanged', () => {
  const code = `
    class Base { constructor() { this.base = 1 } }
    class Derived extends Base { constructor() { super() } get two() { return 2 } static make() { return new Derived() } }
    const curried = (a) => (b) => ({ sum: a + b })
    function* numbers() { yield 1; yield 2 }
    async function later() { return 'later' }
    return [Derived.make().base, Derived.make().two, curried(1)(2).sum, [...numbers()].length, typeof later().then]`
  let entered = 0
  const run = new Function('enter', `return ${instrument(`(function () {${code}})`, 'enter()')}()`)
  expect(run(() => entered++)).toEqual([1, 2, 3, 2, 'function'])
  expect(entered).toBe(12)
})
