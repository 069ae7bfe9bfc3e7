import { expect, test } from 'vitest'
import { answerCount, drawAnswer, drawConnection } from './draw.ts'

test('a seed and an index draw the same connection and the same answer each time', () => {
  const draw = () => Array.from({ length: 50 }, (_, index) => [drawConnection(7, index), drawAnswer(7, index)])
  expect(draw()).toEqual(draw())
  expect(drawConnection(7, 1)).not.toEqual(drawConnection(8, 1))
})

test('connections use both protocols, with and without credentials', () => {
  const drawn = Array.from({ length: 100 }, (_, index) => drawConnection(1, index))
  expect(new Set(drawn.map(({ protocol, isAdministrator }) => `${protocol} ${isAdministrator}`)).size).toBe(4)
})

test('the remote server answers in each of its ways, in turn', () => {
  const drawn = Array.from({ length: answerCount }, (_, index) => drawAnswer(5, index).bytes.toString('latin1'))
  expect(new Set(drawn).size).toBe(answerCount)
})
