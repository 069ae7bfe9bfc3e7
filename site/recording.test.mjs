import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands, drawTerminal, stepsOf } from './recording.mjs'

const picture = readFileSync(join(import.meta.dirname, '../docs/recording.svg'), 'utf8')

test('the picture of the README shows the current commands, drawn by the current code', () => {
  const steps = stepsOf(picture)
  expect(steps.map(({ command }) => command)).toEqual(commands)
  expect(drawTerminal(steps)).toBe(picture)
})

test('the run in the README has created the first object, and its rule has refused the second', () => {
  const lines = stepsOf(picture).flatMap((step) => step.lines)
  expect(lines).toContain('widget.example.com/red serverside-applied')
  expect(lines).toContain('The Widget "blue" is invalid: spec: Invalid value: size is above the limit')
})

test('a line that is too long for the picture is wrapped, and its characters are escaped', () => {
  const drawn = drawTerminal([{ command: 'x', lines: [`${'a'.repeat(104)}<&>`] }])
  expect(drawn).toContain(`>${'a'.repeat(104)}</text>`)
  expect(drawn).toContain('>&lt;&amp;&gt;</text>')
})
