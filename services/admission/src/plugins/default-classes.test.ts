import { expect, test } from 'vitest'
import { type ClassState, newestDefault } from './default-classes.ts'

const classOf = (name: string, second: number, isDefault = true): ClassState => ({
  name,
  createdAt: `2026-01-01T00:00:0${second}Z`,
  isDefault,
  allowsExpansion: false,
})

test.each([
  { title: 'the newest default class is taken', classes: [classOf('a', 1), classOf('b', 2), classOf('c', 1)], chosen: 'b' },
  { title: 'of two of the same age the first by name', classes: [classOf('b', 1), classOf('a', 1)], chosen: 'a' },
  { title: 'a newer class that is no default one does not count', classes: [classOf('a', 1), classOf('b', 2, false)], chosen: 'a' },
  { title: 'without a default class there is none', classes: [classOf('a', 1, false)], chosen: undefined },
])('$title', ({ classes, chosen }) => {
  expect(newestDefault(classes)?.name).toBe(chosen)
})
