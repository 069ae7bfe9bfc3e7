import { render } from 'preact'
import { openSession, sessionState } from './session.ts'
import { Shell } from './shell.tsx'

const app = document.getElementById('app')
if (app !== null) render(<Shell />, app)
openSession().catch((error: unknown) => {
  sessionState.value = { kind: 'closed', reason: `the server does not answer: ${error instanceof Error ? error.message : error}` }
})
