import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands, drawTerminal, stepsOf } from './recording.mjs'

const picture = readFileSync(join(import.meta.dirname, '../docs/recording.svg'), 'utf8')

test('the picture of the README shows the present commands, drawn as the present code draws them', () => {
  const steps = stepsOf(picture)
  expect(steps.map(({ command }) => command)).toEqual(commands)
  expect(drawTerminal(steps)).toBe(picture)
})

test('the run that the README shows has created the first object and refused the second by its rule', () => {
  const lines = stepsOf(picture).flatMap((step) => step.lines)
  expect(lines).toContain('widget.example.com/red serverside-applied')
  expect(lines).toContain('The Widget "blue" is invalid: spec: Invalid value: size is above the limit')
})

test('a line that is too long for the picture is broken, and its characters are escaped', () => {
  const drawn = drawTerminal([{ command: 'x', lines: [`${'a'.repeat(104)}<&>`] }])
  expect(drawn).toContain(`>${'a'.repeat(104)}</text>`)
  expect(drawn).toContain('>&lt;&amp;&gt;</text>')
})
