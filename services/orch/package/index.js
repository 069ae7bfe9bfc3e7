// By way of a file that looks at the version of Node before it loads the program, which older ones cannot.
import orch from './index.cjs'

export const { blackHole, cut, delay, hang, loadSnapshot, loseReply, refuse, refuseConnection, start, truncate, virtualClock } = orch
