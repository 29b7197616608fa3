// SPDX-License-Identifier: MIT
// rung-check in this page. Before this script stands `var rungChecker = "..."`, the program as WebAssembly in base64.
(function () {
    "use strict";
    if (typeof WebAssembly !== "object") return;
    var LEFT = {}, WORK = 20e9, NAMES = {10: "accepted", 20: "rejected", 3: "malformed", 4: "failed"};
    var compiled = null;

    function bytesOf(base64) {
        var text = atob(base64), bytes = new Uint8Array(text.length);
        for (var i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
        return bytes;
    }

    // What the program prints; it reads no files and has no clock.
    function imports(module, printed, memory) {
        var all = {page: {leave: function () { throw LEFT; }}};
        WebAssembly.Module.imports(module).forEach(function (row) {
            if (row.module === "page") return;
            all[row.module] = all[row.module] || {};
            all[row.module][row.name] = function () { return 52; };
        });
        all.wasi_snapshot_preview1.fd_write = function (file, list, count, written) {
            var view = new DataView(memory().buffer), sum = 0;
            for (var i = 0; i < count; i++) {
                var at = view.getUint32(list + 8 * i, true), size = view.getUint32(list + 8 * i + 4, true);
                printed.push(new Uint8Array(memory().buffer, at, size).slice());
                sum += size;
            }
            view.setUint32(written, sum, true);
            return 0;
        };
        return all;
    }

    function textOf(parts) {
        var decoder = new TextDecoder();
        return parts.map(function (part) { return decoder.decode(part, {stream: true}); }).join("");
    }

    // {code, text, seconds}: the exit code of rung-check, and what it prints.
    function check(certificate, model) {
        compiled = compiled || WebAssembly.compile(bytesOf(rungChecker));
        return compiled.then(function (module) {
            var printed = [], instance, begun = performance.now(), code;
            function memory() { return instance.exports.memory; }
            return WebAssembly.instantiate(module, imports(module, printed, memory)).then(function (made) {
                instance = made;
                if (instance.exports._initialize) instance.exports._initialize();
                var places = [certificate, model].map(function (bytes) {
                    var place = instance.exports.web_room(bytes.length);
                    if (!place) throw new Error("the model is too large for this page");
                    new Uint8Array(memory().buffer).set(bytes, place);
                    return place;
                });
                try {
                    code = instance.exports.web_judge(places[0], certificate.length, places[1], model.length, WORK);
                } catch (thrown) {
                    if (thrown !== LEFT) throw thrown;
                    code = instance.exports.web_end();
                }
                return {code: code, text: textOf(printed), seconds: (performance.now() - begun) / 1000};
            });
        });
    }

    function show(place, model) {
        var said = place.querySelector("output"), lines = place.querySelector("pre");
        said.textContent = "checking ...";
        // The browser draws that first.
        setTimeout(function () {
            check(bytesOf(place.dataset.cert), model).then(function (found) {
                place.dataset.code = found.code;
                said.textContent = (NAMES[found.code] || "failed") + ": checked in this page, " + found.seconds.toFixed(2) + " s";
                lines.textContent = found.text;
                lines.hidden = false;
            }).catch(function (problem) {
                place.dataset.code = 4;
                said.textContent = "the check did not end: " + problem.message;
            });
        }, 20);
    }

    document.querySelectorAll(".checker").forEach(function (place) {
        var button = place.querySelector("button"), file = place.querySelector("input");
        if (button) button.addEventListener("click", function () { show(place, bytesOf(place.dataset.model)); });
        if (file) file.addEventListener("change", function () {
            if (file.files[0]) file.files[0].arrayBuffer().then(function (buffer) { show(place, new Uint8Array(buffer)); });
        });
        place.hidden = false;
    });
})();
