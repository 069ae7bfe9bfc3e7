/**
 * Loaded into the server by `npm start`. The server runs in a process group of its own, so that a signal to the terminal's group
 * reaches it once; this ends it, as SIGTERM would, should the script that started it die without passing a signal on.
 */
const parent = process.ppid
const watchMs = 500

const timer = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(timer) // a second signal would cut the shutdown short
  process.kill(process.pid, 'SIGTERM')
}, watchMs).unref()
