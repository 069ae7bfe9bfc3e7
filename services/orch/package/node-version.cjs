'use strict'
// Nodes that are too old must be able to parse and run this file.

/** The lines of Node that the dependencies support: 22 from 22.19 on, 24, 26 and later. */
function isNewEnough(version) {
  const parts = version.split('.').map(Number)
  return (parts[0] === 22 && parts[1] >= 19) || parts[0] === 24 || parts[0] >= 26
}

module.exports = { isNewEnough: isNewEnough }
